// Checks every page at three widths, light and dark: axe-core reports no violation, no page is wider than the screen,
// and the browser logs no error. `node check.mjs [PROGRAM]`
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
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
/** Parts that must be visible on a page at each width. */
const SHOWN = {
  "/?refresh=off": [".verdict .dot", ".facts dd", ".problems .cause .what", ".stack path", ".counts a[title][href*='state=']",
    ".strip .slot.some", ".large strong", ".days .day", ".top li a", "header .search input"],
  "/timeline": [".timeline tbody svg.week", ".timeline .group a[href^='/ns/']", ".filter [name=namespace]", ".filter [name=kind]",
    ".filter [name=state]", ".filter [name=q]", ".filter [name=label]", ".filter [name=team]", "a.sort", ".acts button.primary", ".legend"],
  "/namespaces?refresh=off": ["tbody th a[href^='/ns/']"],
  "/object/default/deploy/office-hours?refresh=off": [".lead strong", ".crumbs a[href^='/ns/default']", "#days", "#cost", "#do",
    "a.button[href$='/schedule?refresh=off']", ".more > summary"],
  "/object/shop/deploy/broken?refresh=off": [".finding.error", "pre.fault mark"],
  "/ns/shop?refresh=off": [".stack path", "#overrides", "#workloads", "#inherited", "#next", "a[href^='/ns/shop.ics']", "a[href^='/ns/shop/what-if']"],
  "/object/shop/deploy/woken/schedule": ["[name=hours]", ".edge", "button.primary"],
  "/ns/shop/what-if?hours=Mon-Fri+10:00-16:00&timezone=Asia/Tokyo": [".large strong", "#figures", "svg.week", "pre"],
};
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

/** Checks that each of these parts of the open page is visible. */
async function expectShown(tab, place, parts) {
  const hidden = await tab.evaluate(`${JSON.stringify(parts)}.filter((part) =>
    ![...document.querySelectorAll(part)].some((it) => it.checkVisibility() && it.getClientRects().length > 0))`);
  for (const part of hidden) problems.push(`${place}: no ${part} is visible`);
}

let acted = 0;

/** Checks the open page at each width, light and dark. */
async function checkAtEachWidth(tab, name, parts = []) {
  for (const width of WIDTHS) for (const scheme of SCHEMES) {
    await tab.show(width, scheme);
    await audit(tab, `${name} at ${width} px, ${scheme}`);
    await expectShown(tab, `${name} at ${width} px, ${scheme}`, parts);
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

/** Moves an edge of the drawn week with the pointer and with the keyboard, and checks the field and the preview. */
async function dragEdges(tab, browser, address) {
  const editor = `${address}/object/shop/deploy/slept/schedule`;
  const hours = () => tab.evaluate(`document.querySelector("[name=hours]").value`);
  const expect = (what, found, expected) => {
    if (JSON.stringify(found) !== JSON.stringify(expected)) problems.push(`${what}: ${JSON.stringify(found)}, not ${JSON.stringify(expected)}`);
  };
  await tab.open(editor, 1280, "light");
  expect("the hours before", await hours(), "Mon-Fri 09:00-19:00");
  const edge = (name) => tab.evaluate(`(() => {
    const box = document.querySelector(".edge.${name}").getBoundingClientRect();
    const week = document.querySelector("[data-edges]").getBoundingClientRect();
    return { x: box.left + box.width / 2, y: box.top + box.height / 2, hour: week.width / 168 };
  })()`);
  // From 19:00 to 17:00 and a few minutes, which snaps to 17:00.
  const stop = await edge("hours1");
  await tab.drag(stop, { x: stop.x - stop.hour * 1.95, y: stop.y + 60 });
  expect("the hours after a drag", await hours(), "Mon-Fri 09:00-17:00");
  const start = await edge("hours0");
  await tab.drag(start, { x: start.x + 2000, y: start.y });
  expect("the hours after a drag beyond the stop", await hours(), "Mon-Fri 16:45-17:00");
  await checkAtEachWidth(tab, "the dragged schedule");
  await tab.show(1280, "light");
  await tab.evaluate(`document.querySelector(".edge.hours0").focus()`);
  for (let presses = 0; presses < 32; presses++) await tab.press("ArrowLeft", "ArrowLeft", 37);
  expect("the hours after arrow keys", await hours(), "Mon-Fri 08:45-17:00");
  const said = await tab.evaluate(`(({ role, ariaLabel, ariaValueText }) => [role, ariaLabel, ariaValueText])(document.activeElement)`);
  expect("the focused edge", said, ["slider", "Start", "08:45"]);
  await tab.drag(await edge("hours1"), { x: 0, y: stop.y });
  expect("the hours after a drag beyond the start", await hours(), "Mon-Fri 08:45-09:00");
  // Typed times move the edges; other days hide them.
  const type = (text) => tab.evaluate(`{ const it = document.querySelector("[name=hours]"); it.value = ${JSON.stringify(text)};
    it.dispatchEvent(new Event("input", { bubbles: true })); }`);
  const shown = () => tab.evaluate(`[...document.querySelectorAll(".edge.hours0:not([hidden])")].map((it) => it.dataset.time)`);
  await type("Mon-Fri 07:30-17:00");
  expect("the edges after typing", [...new Set(await shown())], ["07:30"]);
  await type("Tue-Fri 07:30-17:00");
  expect("the edges after typing other days", await shown(), []);
  await type("Mon-Fri 08:45-17:00");
  await tab.evaluate(`document.querySelector("[name=hours]").focus()`);
  await tab.press("Enter", "Enter", 13);
  await tab.until(`document.querySelector("h1").textContent.startsWith("New schedule for")`);
  const preview = await tab.evaluate(`document.querySelector("main").textContent`);
  for (const part of ["dayshift/hours='Mon-Fri 08:45-17:00'", "instead of 50 h"]) {
    if (!preview.includes(part)) problems.push(`the preview after dragging has no ${part}: ${preview.slice(0, 400)}`);
  }
  const disabled = () => tab.evaluate(`document.querySelector(".acts button").disabled`);
  expect("the button of the preview is disabled", await disabled(), false);
  await tab.evaluate(`document.querySelector(".edge.hours1").focus()`);
  await tab.press("ArrowRight", "ArrowRight", 39);
  expect("the hours after a key on the preview", await hours(), "Mon-Fri 08:45-17:15");
  expect("the button is disabled after an edit", await disabled(), true);
  for (const { method, params } of browser.takeEvents()) {
    if (method === "Log.entryAdded") problems.push(`while dragging: ${params.entry.text}`);
    if (method === "Runtime.exceptionThrown") problems.push(`while dragging: ${params.exceptionDetails.exception?.description}`);
  }
}

/** Checks that the overview of 2,000 workloads in 40 namespaces fits on two screens. */
async function checkLargeOverview(browser) {
  const folder = mkdtempSync(join(tmpdir(), "workloads-"));
  const file = join(folder, "workloads.yaml");
  const problem = (nth) => [
    "dayshift/except: '2026-13-01'", "dayshift/hour: '09:00-19:00'", "dayshift/wake-until: 'tonight'"][nth % 3];
  const workload = (_, nth) => `apiVersion: apps/v1
kind: Deployment
metadata:
  name: app-${nth}
  namespace: team-${nth % 40}
  annotations:
    dayshift/hours: 'Mon-Fri ${String(6 + nth % 5).padStart(2, "0")}:00-19:00'
${nth % 50 === 7 ? `    ${problem(nth)}\n` : ""}spec: { replicas: ${1 + nth % 5} }
`;
  writeFileSync(file, Array.from({ length: 2000 }, workload).join("---\n"));
  const [sandbox, address, url] = await serve(program, [file, "--from", "2026-10-23 08:00", "--for", "1h"], "ignore");
  try {
    const tab = await browser.tab();
    await tab.open(url, 1280, "light");
    await tab.until(`document.querySelector("h1").textContent === "Overview"`);
    await tab.open(`${address}/?refresh=off`, 1280, "light");
    const found = await tab.evaluate(`({ height: document.scrollingElement.scrollHeight, text: document.querySelector("main").textContent })`);
    if (!found.text.includes("Workloads2000")) problems.push(`the large overview is: ${found.text.slice(0, 400)}`);
    if (found.height > 1800) problems.push(`the overview of 2,000 workloads is ${found.height} px high`);
    await audit(tab, "the overview of 2,000 workloads");
  } finally {
    sandbox.kill();
    rmSync(folder, { recursive: true });
  }
}

/** Requests a wake with only the keyboard, confirms it, and checks each page on the way. */
async function requestWake(tab, browser, address) {
  await tab.open(`${address}/timeline?q=office`, 1024, "light");
  await tab.evaluate(`document.querySelector("[name=object]").focus()`);
  await tab.press(" ", "Space", 32);
  await tab.evaluate(`document.querySelector("[name=for]").focus()`);
  await tab.press("Enter", "Enter", 13);
  await tab.until(`document.querySelector("h1").textContent === "Wake?"`);
  await checkAtEachWidth(tab, "the preview", ["td.countdown", ".lead strong", "main button.primary", "a.button"]);
  const preview = await tab.evaluate(`document.querySelector("main").textContent`);
  for (const part of ["1 workload will change", " → ", "awake until ", "dayshift/wake-until=", "Cancel"]) {
    if (!preview.includes(part)) problems.push(`the preview has no ${part}: ${preview}`);
  }
  await tab.evaluate(`document.querySelector("main button").focus()`);
  await tab.press("Enter", "Enter", 13);
  await tab.until(`document.querySelector("h1").textContent === "Wake: done"`);
  const result = await tab.evaluate(`document.querySelector("main").textContent`);
  if (!result.includes("awake until ")) problems.push(`the result is: ${result}`);
  await checkAtEachWidth(tab, "the result", ["#ready", "#ready ~ .scroll a[href^='/object/']", "main form button"]);
  for (const part of [" of 1 ready", "Undo: follow the schedule again", "To the timeline"]) {
    if (!result.includes(part)) problems.push(`the result has no ${part}: ${result}`);
  }
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
  await tab.open(`${address}/timeline`, 1280, "light");
  await tab.show(1280, "light", 500);
  const bar = await tab.evaluate(`document.querySelector(".acts").getBoundingClientRect().bottom - innerHeight`);
  if (bar > 0) problems.push(`the action bar ends ${bar} px below the view`);
  const title = await tab.evaluate(`[document.title, document.querySelector("link[rel=icon]").getAttribute("href")]`);
  if (!/^\(\d+\) Timeline/.test(title[0]) || title[1] !== "/alert.svg") problems.push(`the title and the icon are ${title}`);
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
    await expectShown(tab, place, SHOWN[page] ?? []);
    for (const { method, params } of browser.takeEvents()) {
      const isKnown = page === "/nothing" && params?.entry?.text?.includes("404");
      if (method === "Log.entryAdded" && !isKnown) problems.push(`${place}: ${params.entry.text}`);
      if (method === "Runtime.exceptionThrown") problems.push(`${place}: the script failed: ${params.exceptionDetails.exception?.description}`);
    }
  }
  await checkTelephone(tab, address);
  await checkOverview(tab, address);
  await requestWake(tab, browser, address);
  await dragEdges(tab, browser, address);
  await editSchedule(tab, address);
  await checkLargeOverview(browser);
  const waiting = { starting: ["progress", "li.ready", ".failure", "form button time", "dd time"], closed: ["dd time", "code"] };
  for (const [page, parts] of Object.entries(waiting)) {
    await tab.open(`file://${join(root, `crates/activator/src/waiting_pages/${page}.html`)}`, 1280, "light");
    await checkAtEachWidth(tab, `the page of a ${page} service`, parts);
  }
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
