// Checks the content of the dashboard's pages: numbers that must agree, charts, details that must be closed, and filters.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { checkAtEachWidth, expect, inspect, inspectAtEachWidth } from "./report.mjs";
import { serve } from "./sandbox.mjs";

/* global document, getComputedStyle, all, text, isShown -- the functions below run in a page, with those of report.mjs. */

function checkOverviewContent() {
  expect("the facts", all(".facts dt").map(text), ["Controller", "Version", "Last action", "Clock", "Workloads"]);
  expect("the facts have values", all(".facts dd").every((it) => isShown(it) && text(it) !== ""), true);
  // Problems are grouped by cause, with the fix.
  const causes = all(".problems .cause");
  expect("the causes differ", new Set(causes.map((it) => text(it.querySelector(".what strong")))).size, causes.length);
  for (const cause of causes) expect(`the fix of ${text(cause).slice(0, 80)}`, all(".finding code", cause).length > 0, true);
  const notes = document.querySelector("details.notes");
  expect("the notes", [notes.open, text(notes.querySelector("h2")), isShown(notes.querySelector("summary")), isShown(notes.querySelector(".cause"))],
    [false, "Good to know", true, false]);
  // One bar. Its parts, and the links below it, are the same.
  const links = all(".counts li a").filter((it) => it.querySelector(".key"));
  const numbers = links.map((it) => Number(text(it.querySelector(".number"))));
  expect("the parts of the bar that are 0", numbers.filter((it) => !(it > 0)), []);
  expect("the sum of the parts", numbers.reduce((one, other) => one + other, 0), Number(text(all(".facts dd").at(-1))));
  expect("the links of the bar", all(".stack a").map((it) => it.getAttribute("href")), links.map((it) => it.getAttribute("href")));
  expect("the explanations of the bar", all(".stack title").map((it) => text(it)), links.map((it) => `${text(it)}: ${it.title}`));
  expect("the words of the bar", links.map((it) => text(it).replace(/^\d+ /, "")),
    ["running", "awake", "stopped", "asleep", "paused", "needs attention"]);
  expect("the number that needs attention", numbers.at(-1), 1);
  expect("the verdict", text(document.querySelector(".verdict.warn")), "dayshift is working; 1 workload needs attention");
  // The next 24 hours: starts above the line, stops below it, as high as their replicas.
  const heights = { up: new Map(), down: new Map() };
  for (const slot of all(".slot.some")) {
    const label = slot.getAttribute("aria-label");
    expect("a half hour", label, /^.+ to \d\d:\d\d: \d+ workloads? (starts?|stops?) \(\d+ replicas?: \d+ in .+\)/);
    expect("the tip of a half hour", text(slot.querySelector(".tip")), label.replace(/\s+/g, " "));
    for (const [name, word] of [["up", "start"], ["down", "stop"]]) {
      const path = slot.querySelector(`path.${name}`)?.getAttribute("d");
      const replicas = label.match(new RegExp(`${word}s? \\((\\d+) `))?.[1];
      expect(`a bar for each ${word}`, Boolean(path), Boolean(replicas));
      if (!path) continue;
      const [from, to] = path.match(/M1 (\d+)V(\d+)/).slice(1).map(Number);
      expect(`the direction of a ${word}`, name === "up" ? to < from : to > from, true);
      heights[name].set(Number(replicas), Math.abs(to - from));
    }
  }
  for (const bars of Object.values(heights)) {
    const sorted = [...bars].sort(([one], [other]) => one - other).map(([, height]) => height);
    expect("the bars have different heights", new Set(sorted).size > 1, true);
    expect("more replicas are higher", sorted.every((height, at) => at === 0 || height >= sorted[at - 1]), true);
  }
  expect("the large number", text(document.querySelector(".large strong")), /^\d+ % saved$/);
  expect("the days", all(".days .day").length, 8);
  expect("a day", document.querySelector(".days .day").getAttribute("aria-label"), /^\w{3} \d+ \w{3}: [\d.]+ used, [\d.]+ replica-hours saved$/);
  expect("the bars of the days", all(".day .used").length + all(".day .saved").length, 16);
  expect("the basis of the large number", text(document.querySelector(".large span")), "of the replica-hours of all workloads, measured since 23 Oct");
  expect("the basis of the days", text(document.querySelector(".days ~ .key-line")), "saved, measured used, estimated from the current replica counts");
  expect("the unit of the days", text(document.querySelector("#saved ~ h3")), "Each day, in replica-hours: one replica for one hour");
  expect("the basis of the namespaces", text(all("#saved ~ h3").at(-1)), /^This week by namespace, estimated from the schedules, \d+ \w{3} to \d+ \w{3}$/);
  expect("the headings of the namespaces", all(".top thead th").map(text), ["Namespace", "Saved", "Of its replica-hours"]);
  expect("the top namespaces", all(".top tbody tr").every((it) => it.querySelector("a[href^='/ns/']") && /\d replica-hours ?\d+ %$/.test(text(it))), true);
  expect("there are top namespaces", all(".top tbody tr").length > 1, true);
  expect("the stopped replicas", all("#saved ~ p").map(text).filter((it) => /^Stopped by schedules and overrides now: \d+ replicas/.test(it)).length, 1);
  // Zone and theme are behind a menu, which is closed.
  const menu = document.querySelector("header .menu");
  expect("the menu", [menu.open, isShown(menu.querySelector("summary")), isShown(menu.querySelector("[name=tz]"))], [false, true, false]);
  expect("the themes in the menu", all("a", menu).map(text).filter((it) => /colors|Light|Dark/.test(it)), ["System colors", "Light", "Dark"]);
}

function checkTimelineContent() {
  const drawn = all(".timeline tbody path:is(.running, .stopped, .woken, .slept, .paused, .asis, .busy)");
  expect("bars without a title", drawn.filter((it) => !/^[a-z ]+(, \d+ replicas?)?: \w{3} \d\d:\d\d to \w{3} \d\d:\d\d$/.test(text(it.querySelector("title")))).length, 0);
  expect("there are bars", drawn.length > 50, true);
  for (const week of all(".timeline tbody svg.week")) {
    for (const part of [".ticks", ".weekend", ".past", ".now"]) expect(`${part} of ${week.getAttribute("aria-label")}`, all(`path${part}`, week).length, 1);
  }
  expect("the past", [...new Set(all("path.past > title").map(text))], ["the plan for the past"]);
  const excepted = all(".timeline tbody tr").find((it) => text(it.querySelector("th")) === "excepted");
  const shaded = excepted.querySelector("path.holiday");
  expect("the excluded dates are shaded", [shaded?.getAttribute("fill"), isShown(shaded), shaded?.getBoundingClientRect().width > 20,
    Boolean(document.querySelector("#p-holiday path"))], ["url(#p-holiday)", true, true, true]);
  const legend = all(".legend li").map(text);
  for (const word of ["running", "stopped", "awake", "asleep", "paused", "no start: an excluded date", "weekend", "past, as planned", "now"]) {
    expect(`the legend explains ${word}`, legend.includes(word), true);
  }
  expect("the columns", all(".timeline thead th").slice(0, -1).map(text), ["Workload ↓", "State, replicas", "Next"]);
  expect("the search field", isShown(document.querySelector("header [type=search]")), true);
  expect("the selected filter", document.querySelector("header .menu").open, false);
  // The title counts the workloads with problems, and the icon is red.
  expect("the icon", document.querySelector("link[rel=icon]").getAttribute("href"), "/alert.svg");
}

function checkObjectContent(zone) {
  expect("the sentence", text(document.querySelector(".lead")),
    new RegExp(`^(Running|Stopped) because it is (an excluded date|\\w+(, \\d\\d:\\d\\d)?) \\(Mon-Fri 09:00-19:00, ${zone}\\)\\. (Starts|Stops) .+, in .+\\.$`));
  const details = document.querySelector("details.more");
  expect("the details", [details.open, isShown(details.querySelector("summary")), isShown(details.querySelector("#schedule"))], [false, true, false]);
  expect("the parts in the details", ["#stands", "#schedule", "#labels", "#commands"].filter((it) => !details.querySelector(it)), []);
  expect("the fingerprint is only in the details", [/fingerprint/.test(text(details)), /fingerprint/.test(text(document.querySelector("main")).replace(text(details), ""))],
    [true, false]);
  expect("the order", all("main h2").map((it) => it.id).filter((it) => !details.querySelector(`#${it}`)), ["do", "days", "cost", "events"]);
  expect("the savings", text(document.querySelector("#cost")?.parentElement), /This week the schedule saves \d+ % of [\d.]+ replica-hours/);
  const offsets = all("main time").map((it) => it.getAttribute("datetime").slice(19));
  expect("the times have one zone", new Set(offsets.filter((it) => it !== "Z" && it !== "+00:00")).size <= 1, true);
  expect("the link to the namespace", document.querySelector(".crumbs a[href^='/ns/']")?.getAttribute("href").split("?")[0], "/ns/shop");
}

/** Checks that each state has one name and one color, in the bar, in the pills of workloads, and in the legend of the timeline. */
async function checkStates(tab, address) {
  const colors = (parts) => tab.evaluate(`Object.fromEntries([...document.querySelectorAll("${parts}")].map((it) =>
    [it.closest("li, .badge").textContent.replace(/[\\d\\s]+/g, " ").trim(),
      getComputedStyle(it)[it.matches(".key") ? "backgroundColor" : it.matches(".line") ? "stroke" : "fill"]]))`);
  for (const scheme of ["light", "dark"]) {
    await tab.open(`${address}/?refresh=off`, 1280, scheme);
    const bar = await colors(".counts .key");
    expect(`the states of the bar, ${scheme}`, [Object.keys(bar).length, new Set(Object.values(bar)).size], [6, 6]);
    await tab.open(`${address}/timeline`, 1280, scheme);
    expect(`the pills, ${scheme}`, Object.entries(await colors(".badge .key")).sort(), Object.entries(bar).sort());
    // Awake, asleep and paused have patterns.
    const legend = { ...await colors(".legend path:is(.running, .stopped)"), ...await tab.evaluate(`(() => {
      const color = (it, part) => getComputedStyle(document.querySelector(it))[part];
      return { awake: color("#p-woken .line", "stroke"), asleep: color("#p-slept .dot", "fill"), paused: color("#p-paused .line", "stroke") };
    })()`) };
    delete legend["past, as planned"];
    const { "needs attention": _, ...drawn } = bar;
    expect(`the legend, ${scheme}`, Object.entries(legend).sort(), Object.entries(drawn).sort());
    for (const name of Object.keys(drawn)) {
      expect(`the legend has ${name}`, await tab.evaluate(`[...document.querySelectorAll(".legend li")].some((it) => it.textContent.trim() === "${name}")`), true);
    }
  }
}

/** Checks the filters, the order, the search, the zone of the user, and the icon. */
async function checkLinks(tab, address) {
  const names = () => tab.evaluate(`[...document.querySelectorAll(".timeline tbody tr:not(.group) th a")].map((it) => it.textContent)`);
  for (const [query, expected] of [
    ["namespace=team", ["whole-namespace"]], ["kind=CronJob", ["cj/cron-job"]], ["q=shop/slept", ["slept"]], ["state=is-paused", ["paused"]],
    ["state=is-asleep", ["slept"]], ["label=tier%3Dweb", ["labeled"]], ["team=team%3Dshop", ["labeled", "noticed"]],
  ]) {
    await tab.open(`${address}/timeline?${query}`, 1280, "light");
    expect(`/timeline?${query}`, await names(), expected);
  }
  await tab.open(`${address}/`, 1280, "light");
  await tab.evaluate(`document.querySelector("header [type=search]").focus()`);
  for (const letter of "holid") await tab.press(letter, `Key${letter.toUpperCase()}`, letter.toUpperCase().charCodeAt(0));
  await tab.press("Enter", "Enter", 13);
  await tab.until(`location.pathname === "/timeline"`);
  expect("the search", await names(), ["holidays"]);
  await tab.open(`${address}/timeline`, 1280, "light");
  await tab.evaluate(`[...document.querySelectorAll("a.sort")].find((it) => it.textContent.startsWith("Next")).click()`);
  await tab.until(`location.search.includes("sort=next") && document.readyState === "complete"`);
  const times = await tab.evaluate(`[...document.querySelectorAll("td.next time")].map((it) => Date.parse(it.dateTime))`);
  expect("the times are sorted", times.every((at, before) => before === 0 || at >= times[before - 1]) && times.length > 10, true);
  // Each part of the bar leads to as many workloads as it counts.
  await tab.open(`${address}/?refresh=off`, 1280, "light");
  const parts = await tab.evaluate(`[...document.querySelectorAll(".counts a")].map((it) => [it.href, it.querySelector(".number").textContent])`);
  for (const [link, number] of parts) {
    await tab.open(link, 1280, "light");
    expect(link, (await names()).length, Number(number));
  }
  // The title counts workloads with problems, and the icon is red.
  await tab.open(`${address}/?refresh=off`, 1280, "light");
  const problems = parts.find(([link]) => link.includes("needs-attention"))[1];
  expect("the title", await tab.evaluate(`document.title`), `(${problems}) Overview · dayshift`);
  for (const [icon, isRed] of [["alert", true], ["icon", false]]) {
    await tab.open(`${address}/${icon}.svg`, 1280, "light");
    const [red, green, blue] = await tab.evaluate(`getComputedStyle(document.querySelector("rect")).fill.match(/\\d+/g).map(Number)`);
    expect(`the red of ${icon}.svg`, red > 2 * Math.max(green, blue), isRed);
  }
  // Times are in the zone that the user chooses.
  for (const [page, zone] of [["/", "JST"], ["/timeline", "JST"], ["/ns/shop", "JST"], ["/object/shop/deploy/slept", "JST"]]) {
    await tab.open(`${address}${page}?refresh=off&tz=Asia/Tokyo`, 1280, "light");
    const found = await tab.evaluate(`[document.querySelector("header .where").textContent,
      ...[...document.querySelectorAll("td time, .lead time")].map((it) => it.dateTime)]`);
    expect(`${page} in ${zone}`, found.filter((it) => !/Asia\/Tokyo|\+09:00$/.test(it)), []);
    expect(`${page} has times`, found.length > 2, true);
  }
  await tab.open(`${address}/?refresh=off&tz=Asia/Tokyo`, 1280, "light");
  const kept = await tab.evaluate(`[...document.querySelectorAll("nav a[href^='/']")].filter((it) => !it.search.includes("tz=Asia")).length`);
  expect("the links without the chosen zone", kept, 0);
}

/** Checks the content of the pages of the sandbox. */
export async function checkContents(tab, address) {
  await inspectAtEachWidth(tab, `${address}/?refresh=off`, "the overview", checkOverviewContent);
  await inspectAtEachWidth(tab, `${address}/timeline`, "the timeline", checkTimelineContent);
  await inspectAtEachWidth(tab, `${address}/object/shop/deploy/excepted?refresh=off`, "a workload", checkObjectContent, "UTC");
  await inspectAtEachWidth(tab, `${address}/object/shop/deploy/excepted?refresh=off&tz=Asia/Tokyo`, "a workload in the zone of the user", checkObjectContent, "UTC");
  await checkLinks(tab, address);
  await checkStates(tab, address);
  // The tip of a half hour also appears below the pointer.
  await tab.open(`${address}/?refresh=off`, 1280, "light");
  const slot = await tab.evaluate(`(({ left, top, width, height }) => ({ x: left + width / 2, y: top + height / 2 }))(
    (document.querySelector(".slot.some").scrollIntoView({ block: "center" }), document.querySelector(".slot.some")).getBoundingClientRect())`);
  await tab.hover(slot);
  expect("the tip below the pointer", await tab.evaluate(`getComputedStyle(document.querySelector(".slot.some .tip")).display`), "block");
}

const EVENING = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: shop
  annotations: { dayshift/hours: "09:00-19:00", dayshift/wake-on-request: 1h }
spec:
  replicas: 2
  selector: { matchLabels: { app: web } }
  template: { metadata: { labels: { app: web } }, spec: { containers: [{ name: web, image: web, resources: { requests: { cpu: 500m, memory: 1Gi } } }] } }
`;

/** Checks suggestions, money, two weeks of savings, and the calendar, in a sandbox in which requests wake a workload each evening. */
export async function checkEvening(_tab, _address, browser, program) {
  const folder = mkdtempSync(join(tmpdir(), "workloads-"));
  const file = join(folder, "web.yaml");
  writeFileSync(file, EVENING);
  const requests = [17, 18, 19, 21].map((day) => `--request=deploy/web@2026-11-${day} 19:05`);
  const [sandbox, address, url] = await serve(program, [file, "--from", "2026-11-02 08:00", "--for", "20d",
    "--price", "cpu=0.04,memory=0.005,currency=EUR", ...requests], "ignore");
  try {
    const tab = await browser.tab();
    await tab.open(url, 1280, "light");
    await tab.until(`document.querySelector("h1").textContent === "Overview"`);
    await inspectAtEachWidth(tab, `${address}/?refresh=off`, "the overview with a price", () => {
      expect("the large number", text(document.querySelector(".large strong")), /^\d+\.\d\d EUR saved$/);
      expect("its meaning", text(document.querySelector(".large span")), /^\d+ % of the replica-hours of all workloads, measured since \d+ [A-Z][a-z]{2}$/);
      expect("the days", all(".days .day").length, 14);
      expect("a day", document.querySelector(".days .day").getAttribute("aria-label"), /: [\d.]+ used, \d+\.\d\d EUR saved$/);
      expect("the savings of a namespace", text(document.querySelector(".top tbody tr")), /\d+\.\d\d EUR ?\d+ %$/);
    });
    for (const page of ["/object/shop/deploy/web", "/ns/shop"]) {
      await inspectAtEachWidth(tab, `${address}${page}?refresh=off`, `the suggestion on ${page}`, () => {
        expect("the suggestion", text(document.querySelector("#suggestions").parentElement),
          /shop\/web was woken after 4 of its last 5 stops at 19:00, usually until about 20:15\..*move the stop to 20:15: 09:00-20:15\./);
        expect("its button", text(document.querySelector("#suggestions ~ form button")), "Preview the later stop");
        expect("nothing about people", /Who woke it is not recorded/.test(text(document.querySelector("#suggestions").parentElement)), true);
      });
      await checkAtEachWidth(tab, `the suggestion on ${page}`, ["#suggestions ~ form button"]);
    }
    await tab.open(`${address}/object/shop/deploy/web?refresh=off`, 1280, "light");
    await tab.evaluate(`document.querySelector("#suggestions ~ form button").click()`);
    await tab.until(`document.querySelector("h1")?.textContent.startsWith("New schedule for")`);
    await inspect(tab, "the preview of a suggestion", () => {
      expect("the difference", text(document.querySelector(".lead")), /^It would run [\d.]+ h a week instead of 70 h\. That costs .*EUR\) a week\.$/);
      expect("the command", /kubectl annotate .*dayshift\/hours=09:00-20:15/.test(text(document.querySelector("main"))), true);
      expect("the YAML", all("pre").some((it) => /^ *dayshift\/hours: ["']?09:00-20:15/m.test(it.textContent)), true);
      expect("the button", text(document.querySelector(".acts button.primary")), "Apply the new schedule");
    });
    await checkAtEachWidth(tab, "the preview of a suggestion", ["svg.week", "#figures", ".acts button.primary"]);
    await tab.open(`${address}/ns/shop/what-if?hours=10:00-16:00`, 1280, "light");
    await inspect(tab, "the comparison", () => {
      expect("the rows", all("#figures ~ .scroll tbody th").map(text), ["Running", "Used", "Cost", "Starts", "Starts Mon-Fri 09:00-17:00"]);
      expect("the interrupted workloads", isShown(document.querySelector("#interrupted")), true);
      // The workload has a schedule of its own, which an annotation of the Namespace would not change.
      expect("the commands", all("pre").map(text).filter((it) => it.startsWith("kubectl")),
        ["kubectl annotate deploy/web -n shop --overwrite dayshift/hours=10:00-16:00"]);
    });
    await tab.open(`${address}/timeline`, 1280, "light");
    await tab.evaluate(`document.querySelector("[name=object]").checked = true`);
    await tab.evaluate(`document.querySelector(".acts button").click()`);
    await tab.until(`document.querySelector("h1")?.textContent === "Wake?"`);
    await inspect(tab, "the preview with a price", () => {
      expect("the money", text(document.querySelector(".lead")), /Starts 2 replicas, 1 CPU core, 2 GiB of memory \(0\.05 EUR an hour\)\.$/);
    });
    const calendar = await fetch(`${address}/ns/shop.ics`, { headers: { cookie: await cookies(tab) } });
    expect("the type of the calendar", calendar.headers.get("content-type").split(";")[0], "text/calendar");
    expect("the calendar", (await calendar.text()).match(/^(BEGIN:VCALENDAR|SUMMARY:.*)/gm)?.slice(0, 2).length, 2);
  } finally {
    sandbox.kill();
    rmSync(folder, { recursive: true });
  }
}

/** The cookies of the open page, also those that scripts cannot read. */
async function cookies(tab) {
  const { cookies } = await tab.send("Network.getCookies");
  return cookies.map(({ name, value }) => `${name}=${value}`).join("; ");
}
