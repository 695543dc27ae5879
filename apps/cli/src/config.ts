import { randomUUID } from 'node:crypto';
import { closeSync, existsSync, openSync, readFileSync, unlinkSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { Type, type Static } from 'typebox';
import { Compile } from 'typebox/compile';

type Environment = Record<string, string | undefined>;

const InheritedSettings = Type.Object({
  /** By the names of their settings. */
  secrets: Type.Record(Type.String(), Type.String()),
  /** Notice for the operator, shown once the service runs. */
  notice: Type.Optional(Type.String()),
});
export type InheritedSettings = Static<typeof InheritedSettings>;

const validator = Compile(InheritedSettings);
/** Tells the program that its standard input is what `reexecWith` wrote. */
const marker = '_PHALANX_INHERITED';
const standardInput = 0;

/** Takes what the program was handed by itself, and the mark of that out of `env`. */
function receiveInheritedSettings(env: Environment): InheritedSettings | undefined {
  if (env[marker] === undefined) return undefined;
  delete env[marker];
  const text = readFileSync(standardInput, 'utf8');
  closeSync(standardInput);
  // Otherwise the next file that is opened would pass for the standard input.
  openSync('/dev/null', 'r');
  return validator.Parse(JSON.parse(text));
}

/**
 * Becomes the same program once more, with another environment, so that /proc and the processes that it starts show
 * nothing of the first one. The rest goes along in a file without a name, in memory where there is such a folder: the
 * standard input is all that outlives Node's `execve`, and no command of the service reads it. Returns only where
 * that can't be done.
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

/** The wrapper (`scripts/set-up/run-child.mjs`) that started this process says its process ID in this variable. */
export const parentVariable = '_PHALANX_PARENT';
const everyMs = 500;

/**
 * The wrapper that started this process, and takes the mark of it out of `env`. `isTrusted`: this same process has
 * written the mark, before it became itself once more. A mark of anybody else was meant for another process.
 */
function receiveStarter(env: Record<string, string | undefined>, isTrusted: boolean): number | undefined {
  const pid = Number(env[parentVariable]);
  delete env[parentVariable];
  return pid > 0 && (isTrusted || pid === process.ppid) ? pid : undefined;
}

/**
 * Ends this process in order once the wrapper is gone. The kernel's own signal for that is lost when a process becomes
 * another user, as a service does that root has started.
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

/** Settings that this program passed on when it started itself anew; undefined if it did not. */
export const inherited = receiveInheritedSettings(process.env);

/** The process ID of the wrapper that this process ends with. */
export const starter = receiveStarter(process.env, inherited !== undefined);

/** The environment, and the secrets that are no longer in it; nothing else of the CLI reads it. */
export const environment: Readonly<Record<string, string | undefined>> = {
  ...process.env,
  ...inherited?.secrets,
};
