import { spawn } from 'node:child_process';
import { endWithNpm, endWithParent, wrapperVariable } from './end-with-parent.mjs';

const PASSED_ON = ['SIGINT', 'SIGTERM', 'SIGHUP'];
// Time in ms within which a second signal is an echo: Ctrl+C arrives from the terminal, and again from npm, which
// repeats it at once.
const ECHO_MS = 500;
const isWindows = process.platform === 'win32';

// Limits glibc's malloc arenas. By default, freed memory stays with its thread: pictures from libvips's threads left
// the process with a hundred megabytes more, and growing.
const fewArenas = { MALLOC_ARENA_MAX: '2' };

/** Runs the program in place of this process: with its terminal, its signals (each once) and its exit status. */
export function runChild(program, args, env) {
  const [command, ...rest] = [...endWithParent(), program, ...args];
  // In a separate session, or the terminal would send Ctrl+C to the child too, in addition to the forwarded one.
  const marked = { ...fewArenas, ...env, [wrapperVariable]: String(process.pid) };
  const options = { stdio: 'inherit', env: marked, detached: !isWindows };
  const child = spawn(command, rest, options);
  passSignalsOn(child);
  endWithNpm(() => child.kill('SIGTERM'));
  child.once('error', (error) => {
    console.error(`${program} did not start: ${error.message}`);
    process.exit(1);
  });
  child.once('exit', (code, signal) => (signal === null ? process.exit(code) : endBy(signal)));
}

function passSignalsOn(child) {
  const lastAtMs = new Map();
  for (const signal of PASSED_ON) {
    process.on(signal, () => {
      const now = performance.now();
      const isEcho = now - (lastAtMs.get(signal) ?? -Infinity) < ECHO_MS;
      lastAtMs.set(signal, now);
      if (!isEcho) child.kill(signal);
    });
  }
}

function endBy(signal) {
  for (const name of PASSED_ON) process.removeAllListeners(name);
  process.kill(process.pid, signal);
  // Some signals (such as a core dump's, or an ignored one) do not end this process; the exit code then reports the
  // same.
  setTimeout(() => process.exit(1), 1_000);
}
