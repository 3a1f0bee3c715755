// Checks every page at three widths, light and dark: axe-core reports no violation, no page is wider than the screen,
// and the browser logs no error. `node check.mjs [PROGRAM [PART]]`
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Chromium } from "./chromium.mjs";
import { deployment, serveApi } from "./api.mjs";
import { checkContents, checkEvening } from "./contents.mjs";
import { SCHEMES, WIDTHS, audit, checkAtEachWidth, count, expect, expectShown, inspect, problems } from "./report.mjs";
import { checkResults } from "./results.mjs";
import { serve, start } from "./sandbox.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, "../..");
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
    ".strip .slot.some", ".large strong", ".days .day", ".top tbody a", "header .search input", "header .context", "header .menu summary",
    "nav a[href^='/namespaces']"],
  "/timeline": [".timeline tbody svg.week", ".timeline .group a[href^='/ns/']", ".filter [name=namespace]", ".filter [name=kind]",
    ".filter [name=state]", ".filter [name=q]", ".filter [name=label]", ".filter [name=team]", "a.sort", ".acts button.primary", ".legend"],
  "/namespaces?refresh=off": ["tbody th a[href^='/ns/']"],
  "/object/default/deploy/office-hours?refresh=off": [".lead strong", ".crumbs a[href^='/ns/default']", "#days", "#cost", "#do",
    "a.button[href$='/schedule?refresh=off']", "#events", ".more > summary"],
  "/object/shop/deploy/broken?refresh=off": [".finding.error", "pre.fault mark"],
  "/ns/shop?refresh=off": [".stack path", "#overrides", "#workloads", "#inherited", "#next", "a[href^='/ns/shop.ics']", "a[href^='/ns/shop/what-if']"],
  "/object/shop/deploy/woken/schedule": ["[name=hours]", ".edge", "button.primary"],
  "/ns/shop/what-if?hours=Mon-Fri+10:00-16:00&timezone=Asia/Tokyo": [".large strong", "#figures", "svg.week", "pre"],
};
const [program = join(root, "target/debug/dayshift"), onlyPart] = process.argv.slice(2);

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
async function dragEdges(tab, address, browser) {
  const editor = `${address}/object/shop/deploy/slept/schedule`;
  const hours = () => tab.evaluate(`document.querySelector("[name=hours]").value`);
  await tab.open(editor, 1280, "light");
  expect("the hours before", await hours(), "Mon-Fri 09:00-19:00");
  const edge = (name) => tab.evaluate(`(() => {
    const box = document.querySelector(".edge.${name}").getBoundingClientRect();
    const week = document.querySelector("[data-edges]").getBoundingClientRect();
    return { x: box.left + box.width / 2, y: box.top + box.height / 2, hour: week.width / 168 };
  })()`);
  const stops = await tab.evaluate(`[...document.querySelectorAll(".edge")].map((it) => [it.tabIndex, it.ariaHidden])`);
  expect("the edges that the Tab key reaches", stops.filter(([tab, hidden]) => tab === 0 && hidden !== "true").length, 2);
  expect("the other edges", stops.filter(([tab, hidden]) => tab === -1 && hidden === "true").length, stops.length - 2);
  await expectShown(tab, "the editor", [".drag"]);
  /** The drawn difference at an edge: its class, and its left edge and width in hours. */
  const hoursOf = `(percent) => Math.round(parseFloat(percent) * 1.68 * 100) / 100`;
  const difference = (name) => tab.evaluate(`(({ className, style }) => [className, ...[style.left, style.width].map(${hoursOf})])(
    document.querySelector(".edge.${name}").previousElementSibling)`);
  // From 19:00 to 17:00 and a few minutes, which snaps to 17:00.
  const stop = await edge("hours1");
  await tab.drag(stop, { x: stop.x - stop.hour * 1.95, y: stop.y + 60 });
  expect("the hours after a drag", await hours(), "Mon-Fri 09:00-17:00");
  expect("the difference after an earlier stop", await difference("hours1"), ["change less", 17, 2]);
  expect("the edge after a drag", await tab.evaluate(`(${hoursOf})(document.querySelector(".edge.hours1").style.left)`), 17);
  const dropped = await edge("hours1");
  for (const by of [0, 4]) await tab.hover({ x: dropped.x + by, y: dropped.y });
  expect("the hours after the pointer moves without a button", await hours(), "Mon-Fri 09:00-17:00");
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
  expect("the difference after an earlier start", await difference("hours0"), ["change more", 8.75, 0.25]);
  await tab.evaluate(`document.addEventListener("keydown", (down) => { window.scrolls = !down.defaultPrevented; })`);
  await tab.press("ArrowDown", "ArrowDown", 40);
  expect("the hours after ArrowDown", await hours(), "Mon-Fri 08:30-17:00");
  await tab.press("ArrowUp", "ArrowUp", 38);
  expect("the hours after ArrowUp", await hours(), "Mon-Fri 08:45-17:00");
  expect("the arrow keys also scroll", await tab.evaluate(`scrolls`), false);
  await tab.drag(await edge("hours1"), { x: 0, y: stop.y });
  expect("the hours after a drag beyond the start", await hours(), "Mon-Fri 08:45-09:00");
  const heading = () => tab.evaluate(`getComputedStyle(document.querySelector(".weeks th[scope=row]"), "::after").content`);
  expect("the mark of the edited row", await heading(), '", edited"');
  // Typed times move the edges; other days hide them.
  const type = (text) => tab.evaluate(`{ const it = document.querySelector("[name=hours]"); it.value = ${JSON.stringify(text)};
    it.dispatchEvent(new Event("input", { bubbles: true })); }`);
  const shown = () => tab.evaluate(`[...document.querySelectorAll(".edge.hours0:not([hidden])")].map((it) => it.dataset.time)`);
  await type("Mon-Fri 07:30-17:00");
  expect("the edges after typing", [...new Set(await shown())], ["07:30"]);
  await type("Tue-Fri 07:30-17:00");
  expect("the edges after typing other days", await shown(), []);
  const press = async (name, key, code) => {
    await tab.evaluate(`document.querySelector(".edge.${name}").focus()`);
    await tab.press(key, key, code);
  };
  const limits = (name) => tab.evaluate(`(({ ariaValueMin, ariaValueNow, ariaValueMax, ariaValueText }) =>
    [ariaValueMin, ariaValueNow, ariaValueMax, ariaValueText])(document.querySelector(".edge.${name}"))`);
  await type("Mon-Fri 22:00-06:00");
  expect("the stop on the next day", await limits("hours1"), ["1335", "1800", "2760", "06:00"]);
  expect("the start on the day before", await limits("hours0"), ["360", "1320", "1425", "22:00"]);
  await press("hours1", "ArrowRight", 39);
  expect("the hours after a later stop on the next day", await hours(), "Mon-Fri 22:00-06:15");
  await type("Mon-Fri 09:00-24:00");
  await press("hours1", "ArrowRight", 39);
  expect("the hours after a stop beyond midnight", await hours(), "Mon-Fri 09:00-00:15");
  await press("hours1", "ArrowLeft", 37);
  expect("the hours after a stop at midnight", await hours(), "Mon-Fri 09:00-24:00");
  await type("Mon-Fri 00:00-10:00");
  await press("hours0", "ArrowLeft", 37);
  expect("the hours before midnight", await hours(), "Mon-Fri 00:00-10:00");
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
  // Start and stop times, and hours that the workload inherits.
  await tab.open(`${address}/object/default/deploy/holidays/schedule`, 1280, "light");
  const labels = await tab.evaluate(`["start0", "stop0"].map((name) => document.querySelector(".edge." + name).ariaLabel)`);
  expect("the names of the edges", labels, ["Start", "Stop"]);
  expect("the limits of a start", await limits("start0"), ["0", "480", "1425", "08:00"]);
  await press("stop0", "ArrowLeft", 37);
  expect("the stop times", await tab.evaluate(`document.querySelector("[name=stop]").value`), "weekdays 17:45");
  expect("the difference of a stop", await difference("stop0").then(([name]) => name), "change less");
  await press("start0", "ArrowLeft", 37);
  expect("the difference of a start", await difference("start0").then(([name]) => name), "change more");
  await tab.open(`${address}/object/team/deploy/whole-namespace/schedule`, 1280, "light");
  const inherited = await tab.evaluate(`document.querySelector("[name=hours]").dataset.inherited`);
  expect("the field of inherited hours", await hours(), "");
  await press("hours1", "ArrowRight", 39);
  expect("the changed inherited hours", await hours(), inherited.replace(/:00$/, ":15"));
  for (const { method, params } of browser.takeEvents()) {
    if (method === "Log.entryAdded") problems.push(`while dragging: ${params.entry.text}`);
    if (method === "Runtime.exceptionThrown") problems.push(`while dragging: ${params.exceptionDetails.exception?.description}`);
  }
}

/** Checks that the overview of 2,000 workloads in 40 namespaces fits on two screens. */
async function checkLargeOverview(_tab, _address, browser) {
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
    await tab.open(`${address}/timeline?q=app-1`, 1920, "light");
    const timeline = await tab.evaluate(`(() => {
      const all = (part) => [...document.querySelectorAll(".timeline tbody " + part)];
      const heights = all("path.running").map((it) => it.getAttribute("d").match(/v(\\d+)/)[1]);
      return {
        rows: all("tr:not(.group)").filter((it) => it.getBoundingClientRect().bottom <= 1080).length,
        heights: new Set(heights).size,
        untitled: all("path:is(.running, .stopped)").filter((it) => !it.querySelector("title")).length,
        parts: [".ticks", ".weekend", ".past", ".now"].filter((part) => all("path" + part).length === 0),
        // 10-19, 100-199 and 1000-1999, of which each namespace has a part.
        all: document.querySelector("[name=match]")?.closest("label").textContent.trim(),
      };
    })()`);
    // The workloads of the first two namespaces have 1 and 2 replicas.
    const expected = { heights: 2, untitled: 0, parts: [], all: "all 1111 workloads that match, on all 23 pages" };
    const { rows, ...others } = timeline;
    if (rows < 25) problems.push(`the timeline shows ${rows} workloads on a screen`);
    if (JSON.stringify(others) !== JSON.stringify(expected)) problems.push(`the timeline is ${JSON.stringify(others)}`);
    await tab.evaluate(`document.querySelector("[name=match]").click()`);
    await tab.evaluate(`document.querySelector(".acts button").click()`);
    await tab.until(`document.querySelector("h1")?.textContent === "Wake?"`);
    const lead = await tab.evaluate(`document.querySelector(".lead").textContent`);
    if (!/1\d\d\d workloads will change/.test(lead)) problems.push(`the preview of all that match begins with: ${lead}`);
    await audit(tab, "the preview of all that match");
  } finally {
    sandbox.kill();
    rmSync(folder, { recursive: true });
  }
}

/** Checks the parts that a sandbox does not have: no controller, delayed and denied changes, and users behind a login. */
async function checkClusters(_tab, _address, browser) {
  const folder = mkdtempSync(join(tmpdir(), "kubeconfig-"));
  const kubeconfig = join(folder, "config");
  const at = (hours) => new Date(Date.now() + hours * 3_600_000).toISOString();
  const label = (hours) => at(hours).slice(0, 19).replaceAll(":", ".") + "Z";
  const fromHourAgo = { hours: `${at(-1).slice(11, 13)}:00-${at(4).slice(11, 13)}:00` };
  const office = { hours: "Mon-Fri 09:00-19:00" };
  const state = (state, next, saved = {}) => ({ state, last: label(-48), next, ...saved });
  const stopped = state("stopped", label(9), { "saved-replicas": "3" });
  const [shown, denied] = ["shop", "payments"];
  const objects = {
    namespaces: [shown, denied].map((name) => ({ metadata: { name, uid: name, resourceVersion: "1" } })),
    deployments: [deployment(shown, "web", 2, office)],
  };
  let may = () => true;
  const [api, config] = await serveApi(objects, (...asked) => may(...asked));
  writeFileSync(kubeconfig, config);
  const processes = [];
  const dashboard = async () => {
    const args = ["dashboard", "--kubeconfig", kubeconfig];
    const [child, address, url] = await start(program, args, /^dashboard: (.*)/, ["pipe", "inherit"]);
    processes.push(child);
    const tab = await browser.tab();
    await tab.open(url, 1280, "light");
    await tab.until(`document.querySelector("h1")?.textContent === "Overview"`);
    return [tab, address];
  };
  const expectText = async (tab, place, parts, missing = []) => {
    const text = await tab.evaluate(`document.body.textContent`);
    for (const part of parts) if (!text.includes(part)) problems.push(`${place} has no ${part}: ${text}`);
    for (const part of missing) if (text.includes(part)) problems.push(`${place} has ${part}: ${text}`);
  };
  try {
    let [tab, address] = await dashboard();
    await tab.open(`${address}/?refresh=off`, 1280, "light");
    await expectText(tab, "the overview without a controller", ["No controller has acted on any of the 1 workload",
      "estimate for this week from the schedules"]);
    await checkAtEachWidth(tab, "the overview without a controller", [".verdict.bad", ".banner.bad code"]);

    objects.forbidden = ["statefulsets", "cronjobs"];
    [tab, address] = await dashboard();
    await expectText(tab, "the overview with missing permissions", ["2 kinds of objects cannot be read"]);
    await checkAtEachWidth(tab, "the overview with missing permissions", ["details.banner.warn summary"]);
    objects.forbidden = [];

    objects.deployments = [
      deployment(shown, "db", 1, office, state("running", label(9))),
      deployment(shown, "web", 0, { ...office, after: "deploy/db" }, stopped),
      deployment(shown, "queued", 0, fromHourAgo, state("stopped", `${at(-1).slice(0, 13)}.00.00Z`, { "saved-replicas": "3" })),
      deployment(denied, "ledger", 0, office, stopped),
    ];
    objects.events = [{
      metadata: { namespace: shown, name: "shop.1" }, type: "Normal", reason: "StartsWait", message: "1 start waits",
      involvedObject: { kind: "Namespace", name: shown, namespace: shown }, reportingComponent: "dayshift", lastTimestamp: at(0),
    }];
    [tab, address] = await dashboard();
    // The dashboard reads Events from time to time.
    for (let tries = 100; ; tries--) {
      await tab.open(`${address}/object/shop/deploy/queued`, 1280, "light");
      if (await tab.evaluate(`document.body.textContent.includes("waits")`)) break;
      if (tries === 0) throw new Error(`no start waits: ${await tab.evaluate("document.body.textContent")}`);
    }
    await tab.open(`${address}/timeline`, 1280, "light");
    await tab.evaluate(`for (const it of document.querySelectorAll("[name=object]")) it.checked = !/queued/.test(it.value)`);
    // An administrator removes a permission while the page is open.
    may = (_, asked) => asked.verb !== "patch" || asked.namespace === shown;
    await tab.evaluate(`document.querySelector(".acts button").click()`);
    await tab.until(`document.querySelector("h1")?.textContent === "Wake?"`);
    await expectText(tab, "the preview with delays and denials", ["1 change that your permissions do not allow", "payments/ledger",
      "1 workload can start later, because of dayshift/after", "1 other start waits for a start slot (--max-starting)",
      "it starts after deploy/db"]);
    await checkAtEachWidth(tab, "the preview with delays and denials", ["#denied", ".banner.warn code", "main button.primary"]);

    may = (user, asked) => user === undefined || (user === "ann" && asked.namespace === shown && asked.resource === "deployments");
    const login = ["run", "--dry-run", "--kubeconfig", kubeconfig, "--listen=127.0.0.1:0", "--dashboard-listen=127.0.0.1:0",
      "--user-header=X-Forwarded-User", "--trusted-proxy=127.0.0.1"];
    [, address] = await start(program, login, /dashboard is served listen=(\S+)/, ["ignore", "pipe"]).then((started) => {
      processes.push(started[0]);
      return started;
    });
    tab = await browser.tab();
    const enter = async (user) => {
      await tab.send("Network.setExtraHTTPHeaders", { headers: { "X-Forwarded-User": user } });
      await tab.open(`${address}/?refresh=off`, 1280, "light");
      await tab.until(`document.querySelector("h1")?.textContent === "Overview"`);
    };
    await enter("ann");
    await expectText(tab, "the overview of a user", ["logged in as ann", "of your workloads", "shop/web"], ["payments"]);
    await checkAtEachWidth(tab, "the overview of a user", [".where", ".large strong", ".top tbody a", ".stack path"]);
    await enter("nora");
    await expectText(tab, "the overview of a user without permissions", ["logged in as nora"], ["shop", "payments"]);
    await checkAtEachWidth(tab, "the overview of a user without permissions", ["main p"]);
  } finally {
    for (const child of processes) child.kill();
    api.closeAllConnections();
    api.close();
    rmSync(folder, { recursive: true });
  }
}

/** Requests a wake with only the keyboard, confirms it, and checks each page on the way. */
async function requestWake(tab, address, browser) {
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
  for (const part of ["1 workload changed", "Undo: follow the schedule again", "To the timeline"]) {
    if (!result.includes(part)) problems.push(`the result has no ${part}: ${result}`);
  }
  const back = await tab.evaluate(`document.querySelector("main > p:last-child a").getAttribute("href")`);
  if (back !== "/timeline?q=office") problems.push(`the result leads back to ${back}`);
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
  const actions = await tab.evaluate(`[...document.querySelectorAll("[name=do] option")].map((it) => it.value).join()`);
  if (actions !== "wake,sleep,pause,resume,sync,restore") problems.push(`the actions are ${actions}`);
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

/** Checks each of `PAGES` at each width, light and dark. */
async function checkPages(tab, address, browser) {
  for (const width of WIDTHS) for (const scheme of SCHEMES) for (const page of PAGES) {
    const place = `${page} at ${width} px, ${scheme}`;
    await tab.open(address + page, width, scheme);
    await audit(tab, place);
    await expectShown(tab, place, SHOWN[page] ?? []);
    count();
    for (const { method, params } of browser.takeEvents()) {
      const isKnown = page === "/nothing" && params?.entry?.text?.includes("404");
      if (method === "Log.entryAdded" && !isKnown) problems.push(`${place}: ${params.entry.text}`);
      if (method === "Runtime.exceptionThrown") problems.push(`${place}: the script failed: ${params.exceptionDetails.exception?.description}`);
    }
  }
}

/** Checks the example pages of the activator. */
async function checkWaitingPages(tab) {
  const folder = join(root, "crates/activator/src/waiting_pages");
  const starting = ["li.ready", "li:not(.ready)", "form button time", "dd time + .small"];
  const failing = [...starting, ".failure p + p"];
  const waiting = { starting: [".subject", "progress", "progress + .small", ...starting], failing: [".subject", ...failing],
    closed: [".subject", "dd time + .small", "dd code"], template: failing };
  for (const [page, parts] of Object.entries(waiting)) {
    const file = join(folder, `${page}.html`);
    await tab.open(`file://${file}`, 1280, "light");
    await inspect(tab, `the page ${page}.html`, (page) => {
      const facts = Object.fromEntries(all("dt").map((it) => [text(it), text(it.nextElementSibling)]));
      expect("the contact", facts.Contact, "#platform");
      expect("scripts", all("script, [onclick], [onload], [src], link").length, 0);
      if (page === "closed") {
        expect("the time when it opens", facts.Opens, /^Monday 09:00 UTC\+09:00 in \d+ d/);
        expect("who can start it earlier", facts.Earlier, /^Users who can run dayshift wake/);
        return;
      }
      const titles = { starting: "This service is starting", failing: "This service fails to start", template: "Shop: This service fails to start" };
      expect("the title", text(document.querySelector("h1")), titles[page]);
      if (page === "starting") {
        expect("the progress", [document.querySelector("progress").value, document.querySelector("progress").max], [12, 20]);
        expect("its meaning", text(document.querySelector("progress + p")), "12 s of about 20 s, the median of the last starts");
        expect("a failure", document.querySelector(".failure"), null);
      } else {
        expect("the cause of the failure", text(document.querySelector(".failure")), /FailedCreate.*quota/);
        expect("the time", text(document.querySelector(".failure ~ .small")), "12 s since the start began");
        expect("a progress of a failing start", document.querySelector("progress"), null);
      }
      if (page === "failing") expect("the first part", document.querySelector("h1").nextElementSibling.className, "failure");
      expect("the stages", all("ol li").map(text), ["Dependency 1: ready", "Replicas: 0 of 2 ready"]);
      expect("the end of the wake", facts["Awake until"], "16:27 UTC+09:00 in 1 h 27 min");
      expect("the button", text(document.querySelector("form[method=post] button")), "Keep it awake until 23:00 UTC+09:00");
    }, page);
    await checkAtEachWidth(tab, `the page ${page}.html`, parts);
  }
  const json = JSON.parse(readFileSync(join(folder, "closed.json"), "utf8"));
  expect("the JSON of the page", [json.status, json.opens, json.contact], ["closed", "2026-11-30T09:00:00+09:00", "#platform"]);
}

/** Checks that the theme that a reader chooses takes precedence over that of the system. */
async function checkThemes(tab, address) {
  const color = `getComputedStyle(document.body).backgroundColor`;
  for (const scheme of SCHEMES) for (const theme of SCHEMES) {
    await tab.open(`${address}/?refresh=off&theme=${theme}`, 1024, scheme);
    const expected = theme === "light" ? "rgb(245, 246, 248)" : "rgb(13, 17, 23)";
    const found = await tab.evaluate(color);
    if (found !== expected) problems.push(`theme=${theme} on a ${scheme} system: ${found}`);
  }
}

const PARTS = {
  pages: checkPages, telephone: checkTelephone, overview: checkOverview, wake: requestWake, edges: dragEdges, schedule: editSchedule,
  contents: checkContents, evening: checkEvening, results: checkResults, large: checkLargeOverview, clusters: checkClusters,
  waiting: checkWaitingPages, themes: checkThemes,
};
// The examples and workloads.yaml, except one that starts every minute, which takes long to simulate.
const [sandbox, address, url] = await serve(program, [join(root, "examples"), join(here, "workloads.yaml"),
  "--exclude", "one-start*", "--from", "2026-10-23 08:00"]);
const browser = new Chromium();
try {
  const tab = await browser.tab();
  await tab.open(address, 1024, "light");
  await tab.until(`document.querySelector("h1").textContent === "Forbidden"`);
  await checkAtEachWidth(tab, "without the key");
  await tab.open(url, 1024, "light");
  await tab.until(`document.querySelector("h1").textContent === "Overview"`);
  if (await tab.evaluate("location.search")) problems.push("the key stays in the address");
  for (const [name, check] of Object.entries(PARTS)) {
    if (onlyPart && onlyPart !== name) continue;
    try {
      await check(tab, address, browser, program);
    } catch (error) {
      problems.push(`${name} has ended early: ${error.stack}`);
    }
  }
} finally {
  await browser.close();
  sandbox.kill();
}
for (const problem of problems) console.error(problem);
console.log(`${count(0)} pages, ${problems.length} problems`);
process.exitCode = problems.length === 0 ? 0 : 1;
