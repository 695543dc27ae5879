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
const setpriv = '/usr/bin/setpriv';
/** Variable with the process ID of the wrapper (`scripts/set-up/run-child.mjs`), with which this process ends. */
const wrapperVariable = '_PHALANX_WRAPPER';

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
  // The kernel's signal at the death of the parent is lost when a process changes its user.
  if (isWrapped && existsSync(setpriv)) args.unshift(setpriv, '--pdeathsig', 'TERM');
  process.execve(args[0] ?? '', args, { ...env, [marker]: '1' });
}

/** Whether the parent is the wrapper, and not another process that got the variable from it. */
const isWrapped = process.env[wrapperVariable] === String(process.ppid);
delete process.env[wrapperVariable];

/** Settings that this program passed on when it re-executed itself; undefined if it did not. */
export const inherited = receiveInheritedSettings(process.env);

/** Environment, with the secrets that were removed from it. The CLI reads the environment only here. */
export const environment: Readonly<Record<string, string | undefined>> = {
  ...process.env,
  ...inherited?.secrets,
};
