#!/usr/bin/env node
// Runs the program of the package for this platform with the same arguments, streams and signals.
const { spawn } = require("node:child_process");

const platform = `tooldex-${process.platform}-${process.arch}`;
let program;
try {
  program = require.resolve(`${platform}/bin/tooldex${process.platform === "win32" ? ".exe" : ""}`);
} catch {
  console.error(`tooldex: the npm package ${platform} is not installed`);
  console.error("hint: install without --omit=optional; if there is no such package, build tooldex from source");
  process.exit(1);
}
// Before the start: a signal that comes right after it must not end this process alone.
let child;
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
child.on("error", (err) => {
  console.error(`tooldex: ${err.message}`);
  process.exit(1);
});
child.on("exit", (code, signal) => {
  if (signal === null) process.exit(code);
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
});
