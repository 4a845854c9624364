// node check.mjs MODULES PAGE EXPECTED: opens a report in headless Chromium and checks it. EXPECTED is JSON; see tests/chat/report.rs.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { installed, launch } from "./browser.mjs";

const [modules, file, expectedJson] = process.argv.slice(2);
const expected = JSON.parse(expectedJson);
const axe = readFileSync(installed(modules).resolve("axe-core/axe.min.js"), "utf8");
const address = pathToFileURL(file).href;

const browser = await launch(modules);
try {
  for (const colorScheme of ["light", "dark"]) {
    const page = await browser.newPage({ colorScheme, viewport: { width: 1200, height: 900 } });
    const complaints = [];
    const requests = [];
    page.on("console", (message) => ["error", "warning"].includes(message.type()) && complaints.push(message.text()));
    page.on("pageerror", (error) => complaints.push(String(error)));
    page.on("request", (request) => requests.push(request.url()));
    await page.goto(address);
    await draws(page);
    await hostileTextIsText(page);
    await filters(page);
    await followsLinks(page);
    await keyboard(page);
    await accessible(page, colorScheme);
    await page.setViewportSize({ width: 400, height: 800 });
    await draws(page);
    await followsLinks(page);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    assert.equal(wide, 0, "the page scrolls sideways at 400 pixels");
    await accessible(page, `${colorScheme}, 400 pixels`);
    assert.deepEqual(complaints, []);
    assert.deepEqual([...new Set(requests.map((url) => url.split("#")[0]))], [address]);
    await page.close();
  }
} finally {
  await browser.close();
}

async function draws(page) {
  const drawn = (selector) => page.locator(`svg.picture:visible ${selector}`).count();
  assert.equal(await page.locator("svg.picture:visible").count(), 1);
  assert.equal(await drawn(".name"), expected.tasks);
  assert.equal(await drawn("a .reminder"), expected.reminders);
  assert.equal(await drawn("a .answered"), expected.answered);
  for (const shape of [".prompt", ".completed path", ".pending"]) {
    const box = await page.locator(`svg.picture:visible ${shape}`).first().boundingBox();
    assert.ok(box.width > 10, `${shape} is not drawn`);
  }
  assert.equal(await page.locator("article.a:not(.void)").count(), expected.requests);
  const colours = await page.evaluate(() => [document.body, document.querySelector(".inprogress")].map((e) => getComputedStyle(e)).map((s) => s.backgroundColor + s.fill));
  assert.notEqual(colours[0], colours[1]);
}

async function hostileTextIsText(page) {
  assert.equal(await page.evaluate(() => globalThis.hacked), undefined);
  assert.equal(await page.locator("script").count(), 1);
  assert.equal(await page.locator("img, iframe, object, link").count(), 0);
  assert.equal(await page.locator("svg").count(), 2);
  const text = await page.evaluate(() => document.body.textContent);
  for (const part of expected.texts) assert.ok(text.includes(part), `not on the page as text: ${part}`);
  assert.doesNotMatch(text, /[\u202a-\u202e\u2066-\u2069\u200e\u200f\u061c]/);
}

async function filters(page) {
  const visible = () => page.locator("article:visible").count();
  const all = await visible();
  for (const [filter, selector] of [["prompts", ".u"], ["reminders", ".r"], ["tasks", ".k"], ["errors", ".e"]]) {
    await page.locator(`#f-${filter}`).check();
    const [shown, wanted] = [await visible(), await page.locator(`article${selector}`).count()];
    assert.equal(shown, wanted, filter);
    assert.equal(wanted, expected.filtered[filter], filter);
    assert.ok(shown < all);
  }
  await page.locator("#f-all").check();
  assert.equal(await visible(), all);
  await page.locator("#find").fill("GO </script>");
  assert.equal(await page.locator("output").textContent(), `${await visible()} found`);
  assert.equal(await visible(), 1);
  await page.locator("#find").fill("no text of this page");
  assert.equal(await visible(), 0);
  await page.locator("#find").fill("");
  assert.equal(await visible(), all);
}

async function followsLinks(page) {
  // what the filter hides is shown again when a link leads to it
  await page.locator("#f-errors").check();
  await page.locator("#find").fill("no text of this page");
  await page.locator("svg.picture:visible a:has(.reminder)").first().click();
  const target = page.locator("article:target");
  await target.waitFor({ state: "visible" });
  assert.ok((await target.getAttribute("class")).includes("n"));
  assert.ok(await page.locator("#f-all").isChecked());
  // a click between the links leads to the request below it
  const hit = page.locator("svg.picture:visible .hit");
  const box = await hit.boundingBox();
  await hit.click({ position: { x: box.width - 2, y: box.height - 4 } });
  const id = await page.locator("article.a:not(.void)").last().getAttribute("id");
  await page.waitForFunction((id) => document.activeElement.id === id, id);
}

async function keyboard(page) {
  await page.evaluate(() => { location.hash = ""; document.activeElement.blur(); scrollTo(0, 0); });
  await page.locator(".scroll").focus();
  await page.keyboard.press("Tab");
  const link = await page.evaluate(() => document.activeElement.getAttribute("href"));
  assert.match(link, /^#e\d+$/);
  await page.keyboard.press("Enter");
  await page.waitForFunction((link) => `#${document.activeElement.id}` === link, link);
  const pointed = () => page.locator("#there").getAttribute("href");
  await page.locator("#at").focus();
  await page.keyboard.press("Home");
  const first = await pointed();
  await page.keyboard.press("ArrowRight");
  assert.notEqual(await pointed(), first);
  assert.match(await page.locator("#at").getAttribute("aria-valuetext"), /^Request 2/);
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await page.waitForFunction((href) => `#${document.activeElement.id}` === href, await pointed());
  await page.locator("#f-all").focus();
  await page.keyboard.press("ArrowRight");
  assert.ok(await page.locator("#f-prompts").isChecked());
  await page.keyboard.press("ArrowRight");
  assert.ok(await page.locator("#f-reminders").isChecked());
  await page.locator("#f-all").check();
  await page.locator(".up").focus();
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.activeElement.id === "picture");
  const summary = page.locator("article summary").first();
  await summary.focus();
  await page.keyboard.press("Enter");
  assert.ok(await summary.evaluate((summary) => summary.parentElement.open));
}

async function accessible(page, where) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => globalThis.axe.run({ resultTypes: ["violations"] }));
  const serious = violations.filter((found) => ["serious", "critical"].includes(found.impact));
  const told = serious.map((found) => `${where}: ${found.id}: ${found.nodes.map((node) => node.html).slice(0, 3).join(" ")}`);
  assert.deepEqual(told, []);
}
