// Checks every page at three widths, light and dark: axe-core reports no violation, no page is wider than the screen,
// and the browser logs no error. `node check.mjs [PROGRAM]`
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Chromium } from "./chromium.mjs";
import { serve } from "./sandbox.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, "../..");
const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const WIDTHS = [390, 1280, 2560];
const SCHEMES = ["light", "dark"];
const PAGES = [
  "/?refresh=off",
  "/timeline",
  "/timeline?from=2026-10-22",
  "/timeline?sort=next",
  "/timeline?state=needs-attention",
  "/namespaces?refresh=off",
  "/timeline?state=error",
  "/timeline?q=nothing-is-called-this",
  "/object/default/deploy/office-hours?refresh=off",
  "/object/shop/deploy/broken?refresh=off",
  "/object/shop/deploy/woken?refresh=off",
  "/object/shop/deploy/often?refresh=off",
  "/object/shop/deploy/woken/schedule",
  "/ns/shop?refresh=off",
  "/ns/shop/what-if",
  "/ns/shop/what-if?hours=Mon-Fri+10:00-16:00&timezone=Asia/Tokyo",
  "/ns/shop/what-if?hours=Mon-Fry+10:00-16:00",
  "/ns/default?refresh=off&tz=Asia/Tokyo",
  "/nothing",
];
const program = process.argv[2] ?? join(root, "target/debug/dayshift");

const problems = [];

/** Checks the open page with axe-core, and that it is not wider than the screen. */
async function audit(tab, place) {
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

let acted = 0;

/** Checks the open page at each width, light and dark. */
async function checkAtEachWidth(tab, name) {
  for (const width of WIDTHS) for (const scheme of SCHEMES) {
    await tab.show(width, scheme);
    await audit(tab, `${name} at ${width} px, ${scheme}`);
    acted += 1;
  }
}

/** Edits a schedule with only the keyboard, first to an invalid one, and checks each page on the way. */
async function editSchedule(tab, address) {
  const object = `${address}/object/default/deploy/office-hours`;
  await tab.open(`${object}/schedule`, 1024, "light");
  const submit = async (hours) => {
    await tab.evaluate(`{ const it = document.querySelector("[name=hours]"); it.focus(); it.value = ${JSON.stringify(hours)}; }`);
    await tab.press("Enter", "Enter", 13);
  };
  await submit("Mon-Fry 08:00-16:00");
  await tab.until(`document.querySelector("[role=alert]")`);
  const value = await tab.evaluate(`document.querySelector("[name=hours]").value`);
  if (value !== "Mon-Fry 08:00-16:00") problems.push(`the invalid hours are not kept: ${value}`);
  await checkAtEachWidth(tab, "the rejected schedule");
  await submit("Mon-Fri 08:00-16:00");
  await tab.until(`document.querySelector("h1").textContent.startsWith("New schedule for")`);
  const weeks = await tab.evaluate(`document.querySelectorAll("svg.week").length`);
  if (weeks !== 2) problems.push(`the preview of a schedule has ${weeks} weeks`);
  await checkAtEachWidth(tab, "the preview of a schedule");
  await tab.evaluate(`document.querySelector(".acts button").focus()`);
  await tab.press("Enter", "Enter", 13);
  await tab.until(`document.querySelector("h1").textContent === "New schedule: done"`);
  await checkAtEachWidth(tab, "the result of a schedule");
}

/** Requests a wake with only the keyboard, confirms it, and checks each page on the way. */
async function requestWake(tab, browser, address) {
  await tab.open(`${address}/timeline?q=office`, 1024, "light");
  await tab.evaluate(`document.querySelector("[name=object]").focus()`);
  await tab.press(" ", "Space", 32);
  await tab.evaluate(`document.querySelector("[name=for]").focus()`);
  await tab.press("Enter", "Enter", 13);
  await tab.until(`document.querySelector("h1").textContent === "Wake?"`);
  await checkAtEachWidth(tab, "the preview");
  await tab.evaluate(`document.querySelector("main button").focus()`);
  await tab.press("Enter", "Enter", 13);
  await tab.until(`document.querySelector("h1").textContent === "Wake: done"`);
  const result = await tab.evaluate(`document.querySelector("main").textContent`);
  if (!result.includes("awake until ")) problems.push(`the result is: ${result}`);
  await checkAtEachWidth(tab, "the result");
  for (const { method, params } of browser.takeEvents()) {
    if (method === "Log.entryAdded") problems.push(`while acting: ${params.entry.text}`);
  }
}

/** Checks that the overview fits on two screens, and that its details can be opened with the keyboard. */
async function checkOverview(tab, address) {
  await tab.open(`${address}/?refresh=off`, 1280, "light");
  const found = await tab.evaluate(`(() => {
    const found = [], page = document.scrollingElement.scrollHeight;
    for (const name of [".verdict", ".stack", ".strip", ".large", ".days", ".top"]) {
      if (!document.querySelector(name)) found.push("no " + name);
    }
    if (page > 1800) found.push("the overview is " + page + " px high");
    const slot = document.querySelector(".slot.some");
    slot.focus();
    if (getComputedStyle(slot.querySelector(".tip")).display !== "block") found.push("a focused slot shows no details");
    return found;
  })()`);
  for (const it of found) problems.push(`the overview: ${it}`);
  await tab.open(`${address}/timeline`, 1280, "light");
  const rows = await tab.evaluate(`(() => {
    const high = [...document.querySelectorAll(".timeline tbody tr:not(.group)")].map((it) => it.getBoundingClientRect().height);
    scrollTo(0, document.scrollingElement.scrollHeight);
    const head = document.querySelector(".timeline thead th").getBoundingClientRect();
    return { highest: Math.max(...high), head: head.top };
  })()`);
  if (rows.highest > 34) problems.push(`a row of the timeline is ${rows.highest} px high`);
  if (rows.head < 0) problems.push("the header of the timeline does not stay in view");
}

/** Checks that on a telephone the week is below the name, no text is cut off, and checkboxes are large enough. */
async function checkTelephone(tab, address) {
  const pages = ["/", "/timeline", "/object/default/deploy/office-hours?refresh=off", "/ns/shop?refresh=off",
    "/object/default/deploy/office-hours/schedule", "/ns/shop/what-if?hours=Mon-Fri+10:00-16:00"];
  let boxes = 0;
  for (const page of pages) {
    await tab.open(address + page, 390, "light");
    const { found, count } = await tab.evaluate(`(() => {
      const found = [], box = (it) => it.getBoundingClientRect();
      for (const it of document.querySelectorAll("main details")) it.open = true;
      for (const row of document.querySelectorAll(".timeline tbody tr")) {
        const [name, week] = [row.querySelector("th"), row.querySelector("td.week")];
        if (!week) continue;
        if (box(week).top < box(name).bottom) found.push("the week is beside " + name.textContent);
        if (box(week).width < 300) found.push("the week of " + name.textContent + " is " + box(week).width + " px wide");
      }
      for (const it of document.querySelectorAll("tbody :is(td, th), .timeline th")) {
        if (box(it).right > innerWidth) found.push("cut at the right: " + it.textContent);
      }
      for (const it of document.querySelectorAll(".stacked :is(tbody th, td:last-child:not(:empty))")) {
        it.scrollIntoView();
        const top = document.elementFromPoint(box(it).left + 8, box(it).top + 8);
        if (!it.contains(top)) found.push(top?.textContent + " covers " + it.textContent);
        if (box(it).width < 300) found.push("only " + box(it).width + " px wide: " + it.textContent);
      }
      const boxes = [...document.querySelectorAll("[type=checkbox]")];
      for (const it of boxes) {
        if (box(it).width < 24 || box(it).height < 24) found.push("a checkbox of " + box(it).width + " px");
      }
      return { found, count: boxes.length };
    })()`);
    boxes += count;
    for (const it of new Set(found)) problems.push(`${page} at 390 px: ${it}`);
  }
  if (boxes === 0) problems.push("there is no checkbox");
}

// The examples and workloads.yaml, except one that starts every minute, which takes long to simulate.
const [sandbox, address, url] = await serve(program, [join(root, "examples"), join(here, "workloads.yaml"),
  "--exclude", "one-start*", "--from", "2026-10-23 08:00"]);
const browser = new Chromium();
try {
  const tab = await browser.tab();
  await tab.open(address, 1024, "light");
  await tab.until(`document.querySelector("h1").textContent === "Forbidden"`);
  for (const width of WIDTHS) for (const scheme of SCHEMES) {
    await tab.show(width, scheme);
    await audit(tab, `without the key at ${width} px, ${scheme}`);
  }
  await tab.open(url, 1024, "light");
  await tab.until(`document.querySelector("h1").textContent === "Overview"`);
  if (await tab.evaluate("location.search")) problems.push("the key stays in the address");
  for (const width of WIDTHS) for (const scheme of SCHEMES) for (const page of PAGES) {
    const place = `${page} at ${width} px, ${scheme}`;
    await tab.open(address + page, width, scheme);
    await audit(tab, place);
    for (const { method, params } of browser.takeEvents()) {
      const isKnown = page === "/nothing" && params?.entry?.text?.includes("404");
      if (method === "Log.entryAdded" && !isKnown) problems.push(`${place}: ${params.entry.text}`);
      if (method === "Runtime.exceptionThrown") problems.push(`${place}: a script ran`);
    }
  }
  await checkTelephone(tab, address);
  await checkOverview(tab, address);
  await requestWake(tab, browser, address);
  await editSchedule(tab, address);
  // The theme that a reader chooses takes precedence over that of the system.
  const color = `getComputedStyle(document.body).backgroundColor`;
  for (const scheme of SCHEMES) for (const theme of SCHEMES) {
    await tab.open(`${address}/?refresh=off&theme=${theme}`, 1024, scheme);
    const expected = theme === "light" ? "rgb(245, 246, 248)" : "rgb(13, 17, 23)";
    const found = await tab.evaluate(color);
    if (found !== expected) problems.push(`theme=${theme} on a ${scheme} system: ${found}`);
  }
} finally {
  await browser.close();
  sandbox.kill();
}
for (const problem of problems) console.error(problem);
console.log(`${PAGES.length * WIDTHS.length * SCHEMES.length + acted} pages, ${problems.length} problems`);
process.exitCode = problems.length === 0 ? 0 : 1;
