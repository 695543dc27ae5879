import type { Readable } from 'node:stream';

import type { ShellOutput } from '../adb/shell-service.ts';
import type { Phone } from '../phone.ts';
import { mainUser, workProfile } from '../android/packages/packages.ts';

/** Running program of the phone's shell. */
export interface Process {
  readonly phone: Phone;
  /** Arguments without the program's own name. */
  readonly args: readonly string[];
  /** Variables of the shell. */
  readonly variables: ReadonlyMap<string, string>;
  readonly stdin: Readable;
  readonly stdout: ShellOutput;
  readonly stderr: ShellOutput;
  readonly signal: AbortSignal;
}

/** Runs a program. Resolves with the exit code. */
export type Program = (process: Process) => number | Promise<number>;

export async function readAll(stdin: Readable, maxBytes = 64 * 1024 * 1024): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  for await (const chunk of stdin.iterator({ destroyOnReturn: false })) {
    if (!Buffer.isBuffer(chunk)) continue;
    sizeBytes += chunk.length;
    if (sizeBytes > maxBytes) throw new Error('Too much input for a simulated program.');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Returns the user of `--user N`. Default: the main user. */
export function userOf(args: readonly string[]): number {
  const at = args.indexOf('--user');
  const user = at === -1 ? mainUser : Number(args[at + 1]);
  return Number.isInteger(user) ? user : mainUser;
}

/** Returns why the shell may not act for that user; undefined if it may. */
export function usersProblem({ android, faults }: Phone, args: readonly string[]): string | undefined {
  const user = userOf(args);
  if (!android.packages.listUsers().includes(user)) return `IllegalArgumentException: Invalid user: ${user}`;
  return user === workProfile && faults.closedProfile
    ? `SecurityException: Shell does not have permission to access user ${user}`
    : undefined;
}
