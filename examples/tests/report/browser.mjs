// Headless Chromium, as both scripts here start it: without anything that asks the network of its own accord.
import { createRequire } from "node:module";
import { resolve } from "node:path";

/** What `setup.sh` installed into this folder. */
export const installed = (modules) => createRequire(resolve(modules, "package.json"));

export const launch = (modules) =>
  installed(modules)("playwright-core").chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
  });
