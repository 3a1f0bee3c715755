// Takes the screenshots of docs/ from `dayshift sandbox --dashboard`, and of a page of the activator. `node pictures.mjs [DIRECTORY] [PROGRAM]`
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Chromium } from "./chromium.mjs";
import { smaller } from "./png.mjs";
import { serve } from "./sandbox.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "../..");
const [directory = join(root, "docs/pictures"), program = join(root, "target/debug/dayshift")] = process.argv.slice(2);
const PAGES = {
  overview: "/?refresh=off",
  timeline: "/timeline",
  schedule: "/object/default/deploy/office-hours/schedule",
  "what-if": "/ns/default/what-if?hours=Mon-Fri+08:30-17:00&timezone=Europe/Berlin",
};
const MAX_BYTES = 120_000;

const [sandbox, address, url] = await serve(program, []);
const browser = new Chromium();
try {
  const tab = await browser.tab();
  await tab.open(url, 1000, "light");
  mkdirSync(directory, { recursive: true });
  const take = async (name, scheme) => {
    const png = smaller(await tab.screenshot());
    if (png.length > MAX_BYTES) throw new Error(`${name}, ${scheme}: ${png.length} bytes`);
    writeFileSync(join(directory, `${name}-${scheme}.png`), png);
    console.log(`${name}-${scheme}.png: ${png.length} bytes`);
  };
  for (const scheme of ["light", "dark"]) {
    for (const [name, page] of Object.entries(PAGES)) {
      await tab.open(address + page, 1000, scheme);
      if (name === "schedule") {
        await tab.evaluate(`document.querySelector(".edge.hours1").focus()`);
        for (let presses = 0; presses < 8; presses++) await tab.press("ArrowLeft", "ArrowLeft", 37);
      }
      await take(`dashboard-${name}`, scheme);
    }
    await tab.open(`file://${join(root, "crates/activator/src/waiting_pages/starting.html")}`, 640, scheme, 620);
    await take("waiting-page", scheme);
  }
} finally {
  await browser.close();
  sandbox.kill();
}
