// Controls a headless Chromium over its debugging pipe, so that no driver has to be installed.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export class Chromium {
  #child;
  #profile = mkdtempSync(join(tmpdir(), "chromium-"));
  #next = 1;
  #waiting = new Map();
  #events = [];
  #rest = "";

  constructor(program = process.env.CHROMIUM ?? "chromium") {
    const flags = ["--headless=new", "--remote-debugging-pipe", "--disable-gpu", "--hide-scrollbars",
      "--no-first-run", `--user-data-dir=${this.#profile}`];
    // Chromium's sandbox does not work for root.
    if (process.getuid?.() === 0) flags.push("--no-sandbox");
    this.#child = spawn(program, flags, { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
    this.#child.on("error", (error) => { throw error; });
    this.#child.stdio[4].on("data", (data) => this.#take(data.toString()));
  }

  #take(text) {
    const parts = (this.#rest + text).split("\0");
    this.#rest = parts.pop();
    for (const part of parts) {
      const message = JSON.parse(part);
      if (!message.id) { this.#events.push(message); continue; }
      const { resolve, reject } = this.#waiting.get(message.id);
      this.#waiting.delete(message.id);
      message.error ? reject(new Error(message.error.message)) : resolve(message.result);
    }
  }

  send(method, params = {}, sessionId = undefined) {
    const id = this.#next++;
    this.#child.stdio[3].write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
    return new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
  }

  async tab() {
    const { targetId } = await this.send("Target.createTarget", { url: "about:blank" });
    const { sessionId } = await this.send("Target.attachToTarget", { targetId, flatten: true });
    const tab = new Tab(this, sessionId);
    for (const domain of ["Page", "Runtime", "Log", "Network"]) await tab.send(`${domain}.enable`);
    return tab;
  }

  takeEvents() { return this.#events.splice(0); }

  async close() {
    const ended = new Promise((done) => this.#child.once("exit", done));
    this.#child.kill();
    await ended;
    // Its child processes may write into the profile for a moment longer. The retries of rmSync do not help, because
    // they do not list a directory again.
    for (let tries = 100; ; tries--) {
      try {
        rmSync(this.#profile, { recursive: true, force: true });
        return;
      } catch (error) {
        if (error.code !== "ENOTEMPTY" || tries === 0) throw error;
        await new Promise((done) => setTimeout(done, 100));
      }
    }
  }
}

class Tab {
  constructor(browser, session) { this.browser = browser; this.session = session; }

  send(method, params) { return this.browser.send(method, params, this.session); }

  async evaluate(expression) {
    const { result, exceptionDetails } = await this.send("Runtime.evaluate",
      { expression, awaitPromise: true, returnByValue: true });
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? "the expression has failed");
    return result.value;
  }

  /** Changes the width and the color scheme of the open page. */
  async show(width, scheme, height = 900) {
    await this.send("Emulation.setDeviceMetricsOverride",
      { width, height, deviceScaleFactor: 1, mobile: false });
    await this.send("Emulation.setEmulatedMedia",
      { features: [{ name: "prefers-color-scheme", value: scheme }] });
  }

  /** Presses a key. */
  async press(key, code, windowsVirtualKeyCode) {
    const text = key === "Enter" ? "\r" : key.length === 1 ? key : undefined;
    await this.send("Input.dispatchKeyEvent", { type: "keyDown", key, code, text, windowsVirtualKeyCode });
    await this.send("Input.dispatchKeyEvent", { type: "keyUp", key, code, windowsVirtualKeyCode });
  }

  /** Moves the mouse to a point of the screen, without a button. */
  hover(to) { return this.send("Input.dispatchMouseEvent", { type: "mouseMoved", ...to }); }

  /** Drags with the mouse from one point of the screen to another. */
  async drag(from, to) {
    const mouse = (type, { x, y }) =>
      this.send("Input.dispatchMouseEvent", { type, x, y, button: "left", buttons: type === "mouseReleased" ? 0 : 1, clickCount: 1 });
    await mouse("mousePressed", from);
    for (const part of [0.3, 0.7, 1]) {
      await mouse("mouseMoved", { x: from.x + (to.x - from.x) * part, y: from.y + (to.y - from.y) * part });
    }
    await mouse("mouseReleased", to);
  }

  /** Waits until a condition is true on the current page. */
  async until(condition) {
    const end = Date.now() + 60_000;
    for (;;) {
      // Between two pages there is no document to evaluate in.
      const isTrue = await this.evaluate(condition).catch(() => false);
      if (isTrue) return;
      if (Date.now() > end) {
        throw new Error(`not ${condition}: ${await this.evaluate("document.body.textContent")}`);
      }
    }
  }

  /** Opens a page and waits until it is loaded. */
  async open(url, width, scheme, height) {
    await this.show(width, scheme, height);
    this.browser.takeEvents();
    await this.send("Page.navigate", { url });
    await this.evaluate(`new Promise((done) => document.readyState === "complete"
      ? done() : addEventListener("load", () => done()))`);
  }

  async screenshot() {
    const { data } = await this.send("Page.captureScreenshot", { format: "png" });
    return Buffer.from(data, "base64");
  }
}
