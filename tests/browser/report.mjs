// The checks that apply to every page, and the problems that they have found.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
export const WIDTHS = [390, 1280, 2560];
export const SCHEMES = ["light", "dark"];

export const problems = [];
let acted = 0;

/** Counts checked pages, and returns their number. */
export const count = (pages = 1) => (acted += pages);

/** Reports a value that differs from the expected one. */
export function expect(name, found, expected) {
  const [one, other] = [found, expected].map((it) => JSON.stringify(it));
  if (one !== other) problems.push(`${name}: ${one}, not ${other}`);
}

/** Functions for scripts in a page. `expect` collects differences in `faults`. */
const PRELUDE = `
  const faults = [];
  const all = (part, root = document) => [...root.querySelectorAll(part)];
  const text = (it) => (it?.textContent ?? "").replace(/\\s+/g, " ").trim();
  const isShown = (it) => Boolean(it?.checkVisibility() && it.getClientRects().length > 0);
  const expect = (name, found, expected) => {
    const is = expected instanceof RegExp ? expected.test(found) : JSON.stringify(found) === JSON.stringify(expected);
    if (!is) faults.push(name + ": " + JSON.stringify(found) + ", not " + (expected instanceof RegExp ? expected : JSON.stringify(expected)));
  };`;

/** Runs a function that calls `expect` in the open page, and reports its faults. */
export async function inspect(tab, place, script, ...args) {
  const faults = await tab.evaluate(`(async () => { ${PRELUDE}\nawait (${script})(...${JSON.stringify(args)});\nreturn faults; })()`);
  for (const fault of faults) problems.push(`${place}: ${fault}`);
}

/** Opens a page at each width, light and dark, and runs a function in it as it is, before all details are opened. */
export async function inspectAtEachWidth(tab, url, name, script, ...args) {
  for (const width of WIDTHS) for (const scheme of SCHEMES) {
    await tab.open(url, width, scheme);
    await inspect(tab, `${name} at ${width} px, ${scheme}`, script, ...args);
    acted += 1;
  }
}

/** Checks the open page with axe-core, and that it is not wider than the screen. */
export async function audit(tab, place) {
  // A page that reloads by itself would interrupt the check on a slow machine.
  await tab.send("Page.stopLoading");
  await tab.evaluate(`for (const it of document.querySelectorAll("details")) it.open = true`);
  await tab.evaluate(AXE);
  const { violations, passes } = await tab.evaluate(`axe.run(document).then((it) =>
    ({ violations: it.violations, passes: it.passes.length }))`);
  if (passes < 10) problems.push(`${place}: axe has checked nothing`);
  for (const { id, help, nodes } of violations) {
    problems.push(`${place}: ${id}: ${help}: ${nodes.slice(0, 3).map((it) => `${it.html.slice(0, 160)} (${it.failureSummary?.replace(/\s+/g, " ").slice(0, 200)})`).join("; ")}`);
  }
  const wide = await tab.evaluate(`document.scrollingElement.scrollWidth - innerWidth`);
  if (wide > 0) problems.push(`${place}: ${wide} px wider than the screen`);
}

/** Checks that each of these parts of the open page is visible. */
export async function expectShown(tab, place, parts) {
  const hidden = await tab.evaluate(`${JSON.stringify(parts)}.filter((part) =>
    ![...document.querySelectorAll(part)].some((it) => it.checkVisibility() && it.getClientRects().length > 0))`);
  for (const part of hidden) problems.push(`${place}: no ${part} is visible`);
}

/** Checks the open page at each width, light and dark. */
export async function checkAtEachWidth(tab, name, parts = []) {
  for (const width of WIDTHS) for (const scheme of SCHEMES) {
    await tab.show(width, scheme);
    await audit(tab, `${name} at ${width} px, ${scheme}`);
    await expectShown(tab, `${name} at ${width} px, ${scheme}`, parts);
    acted += 1;
  }
}
