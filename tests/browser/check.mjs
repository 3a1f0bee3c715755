// Every page at three widths, light and dark: axe-core finds nothing, nothing is wider than the
// screen, and the browser complains of nothing. `node check.mjs [--screenshots FOLDER] [PROGRAM]`
import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { createInterface } from "node:readline";
import { Chromium } from "./chromium.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, "../..");
const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const WIDTHS = [360, 1024, 2560];
const SCHEMES = ["light", "dark"];
const PAGES = [
  "/?refresh=off",
  "/timeline",
  "/timeline?from=2026-10-22",
  "/timeline?state=error",
  "/timeline?q=nothing-is-called-this",
  "/object/default/deploy/office-hours?refresh=off",
  "/object/shop/deploy/broken?refresh=off",
  "/object/shop/deploy/woken?refresh=off",
  "/object/shop/deploy/often?refresh=off",
  "/nothing",
];
const SCREENSHOTS = [
  ["overview-light", "/?refresh=off", 1024, "light"],
  ["timeline-light", "/timeline", 1280, "light"],
  ["timeline-dark", "/timeline", 1280, "dark"],
  ["workload-dark", "/object/shop/deploy/broken?refresh=off", 1024, "dark"],
];

const args = process.argv.slice(2);
const at = args.indexOf("--screenshots");
const folder = at < 0 ? null : args.splice(at, 2)[1];
const program = args[0] ?? join(root, "target/debug/dayshift");

/** The sandbox of the examples and of what is beside this file, and its address. */
async function serve() {
  const child = spawn(program, ["sandbox", join(root, "examples"), join(here, "workloads.yaml"),
    // It starts every minute, which takes a while to play.
    "--exclude", "one-start*",
    "--from", "2026-10-23 08:00", "--dashboard", "127.0.0.1:0"],
    { stdio: ["ignore", "pipe", "inherit"], cwd: root });
  for await (const line of createInterface({ input: child.stdout })) {
    if (line.startsWith("dashboard: ")) {
      child.stdout.resume();
      return [child, line.slice("dashboard: ".length).replace(/\/$/, "")];
    }
  }
  throw new Error("the sandbox has ended");
}

const problems = [];
const [sandbox, address] = await serve();
const browser = new Chromium();
try {
  const tab = await browser.tab();
  for (const width of WIDTHS) for (const scheme of SCHEMES) for (const page of PAGES) {
    const place = `${page} at ${width} px, ${scheme}`;
    await tab.open(address + page, width, scheme);
    await tab.evaluate(`for (const it of document.querySelectorAll("details")) it.open = true`);
    await tab.evaluate(AXE);
    const { violations, passes } = await tab.evaluate(`axe.run(document).then((it) =>
      ({ violations: it.violations, passes: it.passes.length }))`);
    if (passes < 10) problems.push(`${place}: axe has looked at nothing`);
    for (const { id, help, nodes } of violations) {
      problems.push(`${place}: ${id}: ${help}: ${nodes.slice(0, 3).map((it) => `${it.html.slice(0, 160)} (${it.failureSummary?.replace(/\s+/g, " ").slice(0, 200)})`).join("; ")}`);
    }
    const wide = await tab.evaluate(`document.scrollingElement.scrollWidth - innerWidth`);
    if (wide > 0) problems.push(`${place}: ${wide} px wider than the screen`);
    for (const { method, params } of browser.takeEvents()) {
      const isKnown = page === "/nothing" && params?.entry?.text?.includes("404");
      if (method === "Log.entryAdded" && !isKnown) problems.push(`${place}: ${params.entry.text}`);
      if (method === "Runtime.exceptionThrown") problems.push(`${place}: a script ran`);
    }
  }
  // What a reader chooses counts, whatever the system says.
  const colour = `getComputedStyle(document.body).backgroundColor`;
  for (const scheme of SCHEMES) for (const theme of SCHEMES) {
    await tab.open(`${address}/?refresh=off&theme=${theme}`, 1024, scheme);
    const expected = theme === "light" ? "rgb(255, 255, 255)" : "rgb(13, 17, 23)";
    const found = await tab.evaluate(colour);
    if (found !== expected) problems.push(`theme=${theme} on a ${scheme} system: ${found}`);
  }
  if (folder) {
    mkdirSync(folder, { recursive: true });
    for (const [name, page, width, scheme] of SCREENSHOTS) {
      await tab.open(address + page, width, scheme);
      writeFileSync(join(folder, `${name}.png`), await tab.screenshot());
    }
  }
} finally {
  await browser.close();
  sandbox.kill();
}
for (const problem of problems) console.error(problem);
console.log(`${PAGES.length * WIDTHS.length * SCHEMES.length} pages, ${problems.length} problems`);
process.exitCode = problems.length === 0 ? 0 : 1;
