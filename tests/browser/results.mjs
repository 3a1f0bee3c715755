// Checks the preview and the result of actions against an API server whose controller acts at once, and whose pods
// become ready later.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { deployment, serveApi } from "./api.mjs";
import { checkAtEachWidth, expect, inspect } from "./report.mjs";
import { start } from "./sandbox.mjs";

/* global document, all, text, isShown -- the functions below run in a page, with those of report.mjs. */

const stamp = (time) => `${new Date(time).toISOString().slice(0, 19).replaceAll(":", ".")}Z`;
const label = (hours) => stamp(Date.now() + hours * 3_600_000);

/** What a controller writes for an override: the state, and the counts. */
function control(object) {
  const { annotations, labels } = object.metadata;
  if (!annotations["dayshift/wake-until"]) return;
  object.spec.replicas = Number(labels["dayshift/saved-replicas"] ?? object.spec.replicas);
  delete labels["dayshift/saved-replicas"];
  Object.assign(labels, { "dayshift/state": "woken", "dayshift/last": label(0), "dayshift/next": stamp(annotations["dayshift/wake-until"]) });
  // Only one replica of `slow` is ready.
  object.status.readyReplicas = object.metadata.name === "slow" ? 1 : object.spec.replicas;
}

/** Checks totals, the override that a change replaces, the readiness of a result, and the way back. */
export async function checkResults(_tab, _address, browser, program) {
  const folder = mkdtempSync(join(tmpdir(), "kubeconfig-"));
  const office = { hours: "Mon-Fri 09:00-19:00" };
  const stopped = { state: "stopped", last: label(-48), next: label(9), "saved-replicas": "4" };
  const until = new Date(Date.now() + 5 * 3_600_000).toISOString();
  const sleep = { ...office, "sleep-until": until, "override-by": "jane", reason: "load test", "override-began": new Date().toISOString() };
  const web = deployment("shop", "web", 0, office, stopped);
  const slow = deployment("shop", "slow", 0, sleep, { ...stopped, state: "slept", next: stamp(until) });
  const objects = { deployments: [web, slow], namespaces: [{ metadata: { name: "shop", uid: "shop", resourceVersion: "1" } }] };
  const [api, config, send] = await serveApi(objects, () => true, control);
  writeFileSync(join(folder, "config"), config);
  const args = ["dashboard", "--kubeconfig", join(folder, "config")];
  const [dashboard, address, url] = await start(program, args, /^dashboard: (.*)/, ["pipe", "inherit"]);
  try {
    const tab = await browser.tab();
    await tab.open(url, 1280, "light");
    await tab.until(`document.querySelector("h1")?.textContent === "Overview"`);
    await inspect(tab, "the header", () => {
      expect("the context", text(document.querySelector("header .context")), "all namespaces, production");
      expect("the header has no address of the API server", /https?:|127\.0\.0\.1/.test(text(document.querySelector("header"))), false);
    });
    const list = `/timeline?namespace=shop&state=`;
    await tab.open(`${address}${list}`, 1280, "light");
    await tab.evaluate(`for (const it of document.querySelectorAll("[name=object]")) it.checked = true`);
    await tab.evaluate(`document.querySelector("[name=for]").value = "8h"; document.querySelector(".acts button").click()`);
    await tab.until(`document.querySelector("h1")?.textContent === "Wake?"`);
    await inspect(tab, "the preview", () => {
      expect("the totals", text(document.querySelector(".lead")),
        /2 workloads will change\. Starts 8 replicas, 4 CPU cores, 8 GiB of memory\.$/);
      expect("now and then", all("td.countdown").map(text), ["0 → 4 replicas", "0 → 4 replicas"]);
      const effects = all("td:nth-of-type(2)").map(text);
      expect("the end", effects.every((it) => /awake until .+, in 8 h/.test(it)), true);
      expect("the former override", effects.filter((it) => /; it was asleep until .+ by jane \(load test\)/.test(it)).length, 1);
      expect("the annotations are closed", all("td details").map((it) => [it.open, isShown(it.querySelector("code"))]), [[false, false], [false, false]]);
      expect("the buttons", all("form.decide :is(button.primary, a.button)").map(text), ["Wake 2 workloads", "Cancel"]);
    });
    await checkAtEachWidth(tab, "the preview of a wake over a sleep", [".lead strong", "td.countdown", "form.decide button.primary", "form.decide a.button"]);
    await tab.evaluate(`document.querySelector("form.decide button.primary").click()`);
    await tab.until(`document.querySelector("h1")?.textContent === "Wake: done" && document.querySelector("#ready")`);
    await tab.until(`document.querySelector("#ready").textContent === "1 of 2 ready"`);
    await inspect(tab, "the result", () => {
      expect("the readiness", all("#ready ~ .scroll tbody tr").map(text).sort(), ["shop/slowawake 41/4", "shop/webawake 44/4"]);
      expect("the links", all("#ready ~ .scroll tbody a").map((it) => it.getAttribute("href").split("?")[0]).sort(),
        ["/object/shop/deploy/slow", "/object/shop/deploy/web"]);
      expect("until when it holds", text(document.querySelector(".lead")), /^It holds until .+, in (8 h|7 h 59 min)\.$/);
      expect("undo", all("form button").map(text).filter((it) => it.startsWith("Undo")), ["Undo: 1 former override again"]);
    });
    await checkAtEachWidth(tab, "the result of a wake", ["#ready", "#ready ~ .scroll a", "form.decide button"]);
    // The page follows the readiness by itself. The checks above have stopped its reloads.
    await tab.evaluate("location.reload()").catch(() => {});
    await tab.until(`document.querySelector("#ready")?.textContent === "1 of 2 ready"`);
    slow.status.readyReplicas = 4;
    send("deployments", slow);
    await tab.until(`document.querySelector("#ready")?.textContent === "2 of 2 ready"`);
    await tab.evaluate(`document.querySelector("form.decide button").click()`);
    await tab.until(`document.querySelector("h1")?.textContent === "Undo?"`);
    await inspect(tab, "the preview of an undo", () => {
      expect("the effects", all("td:nth-of-type(2)").map((it) => text(it).split(",")[0].replace(/until .*/, "until")).sort(), ["asleep until", "resumed"]);
    });
    await checkAtEachWidth(tab, "the preview of an undo", ["form.decide button.primary"]);
    const back = await tab.evaluate(`document.querySelector("form.decide a.button").getAttribute("href")`);
    expect("the way back", back, "/timeline?namespace=shop");
    // Without the API server, the page reports that in words for users.
    api.closeAllConnections();
    api.close();
    for (let tries = 100; ; tries--) {
      await tab.open(`${address}/?refresh=off`, 1280, "light");
      if (await tab.evaluate(`Boolean(document.querySelector(".banner.bad"))`)) break;
      if (tries === 0) throw new Error("the page reports no outage");
      await new Promise((done) => setTimeout(done, 100));
    }
    await inspect(tab, "the overview without the API server", () => {
      expect("the outage", /os error|tcp connect|client error/.test(text(document.body)), false);
      expect("the verdict", text(document.querySelector(".verdict")), "The cluster cannot be read");
    });
    await checkAtEachWidth(tab, "the overview without the API server", [".banner.bad", ".verdict.warn"]);
  } finally {
    dashboard.kill();
    api.closeAllConnections();
    api.close();
    rmSync(folder, { recursive: true });
  }
}
