import { randomUUID } from 'node:crypto';
import { closeSync, existsSync, openSync, readFileSync, unlinkSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { Type, type Static } from 'typebox';
import { Compile } from 'typebox/compile';

type Environment = Record<string, string | undefined>;

const InheritedSettings = Type.Object({
  /** Secrets, by the names of their settings. */
  secrets: Type.Record(Type.String(), Type.String()),
  /** Notice for the operator, shown once the service runs. */
  notice: Type.Optional(Type.String()),
});
export type InheritedSettings = Static<typeof InheritedSettings>;

const validator = Compile(InheritedSettings);
/** Environment variable that marks standard input as written by `reexecWith`. */
const marker = '_PHALANX_INHERITED';
const standardInput = 0;

/** Reads the settings that this program passed to itself, and removes the marker from `env`. */
function receiveInheritedSettings(env: Environment): InheritedSettings | undefined {
  if (env[marker] === undefined) return undefined;
  delete env[marker];
  const text = readFileSync(standardInput, 'utf8');
  closeSync(standardInput);
  // Otherwise the next opened file would become standard input.
  openSync('/dev/null', 'r');
  return validator.Parse(JSON.parse(text));
}

/**
 * Re-executes this program with another environment, so that /proc and child processes show nothing of the first
 * environment. Passes `values` in an unlinked file, in memory if /dev/shm exists. The file becomes standard input,
 * because only that survives Node's `execve` and no command of the service reads it. Returns only if this is not
 * possible.
 */
export function reexecWith(env: Environment, values: InheritedSettings): void {
  if (process.execve === undefined) return;
  const folder = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
  const file = path.join(folder, `phalanx-${randomUUID()}`);
  closeSync(standardInput);
  const descriptor = openSync(file, 'wx+', 0o600);
  unlinkSync(file);
  if (descriptor !== standardInput) return closeSync(descriptor);
  writeSync(descriptor, JSON.stringify(values), 0);
  const args = [process.execPath, ...process.execArgv, ...process.argv.slice(1)];
  process.execve(process.execPath, args, { ...env, [marker]: '1' });
}

/** Variable in which the wrapper (`scripts/set-up/run-child.mjs`) passes its process ID to this process. */
export const parentVariable = '_PHALANX_PARENT';
const everyMs = 500;

/**
 * Returns the process ID of the wrapper that started this process, and removes the variable from `env`. `isTrusted`
 * means that this process set the variable before it re-executed itself. Any other value was meant for another process.
 */
function receiveStarter(env: Record<string, string | undefined>, isTrusted: boolean): number | undefined {
  const pid = Number(env[parentVariable]);
  delete env[parentVariable];
  return pid > 0 && (isTrusted || pid === process.ppid) ? pid : undefined;
}

/**
 * Shuts this process down gracefully once the wrapper has ended. The kernel's parent-death signal is lost when a
 * process changes its user, as a service started by root does.
 */
export function endWithStarter(pid: number | undefined): void {
  if (pid === undefined) return;
  const timer = setInterval(() => {
    if (process.ppid === pid) return;
    clearInterval(timer);
    process.kill(process.pid, 'SIGTERM');
  }, everyMs);
  timer.unref();
}

/** Settings that this program passed on when it re-executed itself; undefined if it did not. */
export const inherited = receiveInheritedSettings(process.env);

/** Process ID of the wrapper. This process ends with it. */
export const starter = receiveStarter(process.env, inherited !== undefined);

/** Environment, with the secrets that were removed from it. The CLI reads the environment only here. */
export const environment: Readonly<Record<string, string | undefined>> = {
  ...process.env,
  ...inherited?.secrets,
};
