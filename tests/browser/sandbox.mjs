// Starts a sandbox with a dashboard.
import { spawn } from "node:child_process";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "../..");

/** Runs `dayshift sandbox` with these arguments. Returns the process, its address, and the URL with the key. */
export async function serve(program, args, stderr = "inherit") {
  const child = spawn(program, ["sandbox", ...args, "--dashboard", "127.0.0.1:0"],
    { stdio: ["ignore", "pipe", stderr], cwd: root });
  for await (const line of createInterface({ input: child.stdout })) {
    if (line.startsWith("dashboard: ")) {
      child.stdout.resume();
      const url = line.slice("dashboard: ".length);
      return [child, new URL(url).origin, url];
    }
  }
  throw new Error("the sandbox has ended");
}
