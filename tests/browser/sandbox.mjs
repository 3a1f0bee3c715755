// A sandbox whose pages are served.
import { spawn } from "node:child_process";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "../..");

/** `dayshift sandbox` with these arguments, its address, and the one with the key that lets a browser in. */
export async function serve(program, args) {
  const child = spawn(program, ["sandbox", ...args, "--dashboard", "127.0.0.1:0"],
    { stdio: ["ignore", "pipe", "inherit"], cwd: root });
  for await (const line of createInterface({ input: child.stdout })) {
    if (line.startsWith("dashboard: ")) {
      child.stdout.resume();
      const url = line.slice("dashboard: ".length);
      return [child, new URL(url).origin, url];
    }
  }
  throw new Error("the sandbox has ended");
}
