// node picture.mjs MODULES PAGE NAME: the page from its head to its key figures as NAME.png and NAME-dark.png.
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { launch } from "./browser.mjs";

const [modules, file, name] = process.argv.slice(2);
const browser = await launch(modules);
try {
  for (const [colorScheme, path] of [["light", `${name}.png`], ["dark", `${name}-dark.png`]]) {
    const page = await browser.newPage({ colorScheme, viewport: { width: 1100, height: 900 }, deviceScaleFactor: 1.5 });
    await page.goto(pathToFileURL(resolve(file)).href);
    // the request that carries the first reminder
    await page.locator("svg.picture:visible a:has(.answered)").first().hover();
    const { y, height } = await page.locator("dl").boundingBox();
    await page.screenshot({ path, fullPage: true, clip: { x: 0, y: 0, width: 1100, height: y + height + 20 } });
    await page.close();
  }
} finally {
  await browser.close();
}
