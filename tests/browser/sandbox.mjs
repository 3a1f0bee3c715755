// Starts dayshift with a dashboard.
import { spawn } from "node:child_process";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "../..");

/** Runs `dayshift sandbox` with these arguments. Returns the process, its address, and the URL with the key. */
export function serve(program, args, stderr = "inherit") {
  return start(program, ["sandbox", ...args, "--dashboard", "127.0.0.1:0"], /^dashboard: (.*)/, ["pipe", stderr]);
}

/** Runs the program until a line of its first piped output matches the pattern, which captures the URL of the dashboard.
 * Returns the same as `serve`. */
export async function start(program, args, pattern, [stdout, stderr]) {
  const child = spawn(program, args, { stdio: ["ignore", stdout, stderr], cwd: root });
  const output = child.stdout ?? child.stderr;
  let text = "";
  for await (const line of createInterface({ input: output })) {
    const found = line.match(pattern);
    if (found) {
      output.resume();
      const url = found[1].startsWith("http") ? found[1] : `http://${found[1]}/`;
      return [child, new URL(url).origin, url];
    }
    text += `${line}\n`;
  }
  throw new Error(`the program has ended: ${text}`);
}
