import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Socket } from 'node:net';

import type { Start } from './confinement.ts';

export interface ProcessExit {
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** Server ends of a program's descriptors, from 0 on. */
export type Streams = readonly [stdin: Socket, stdout: Socket, stderr: Socket, ...others: Socket[]];

export interface StartedProcess {
  readonly pid: number;
  readonly streams: Streams;
  /** Resolves when the process is gone. Its output may not have arrived completely. */
  readonly exited: Promise<ProcessExit>;
  signal(name: NodeJS.Signals): void;
  /** Sends a signal to the process and to all processes that it has started. */
  signalGroup(name: NodeJS.Signals): void;
}

export interface StartOptions {
  readonly environment: Readonly<Record<string, string>>;
  readonly folder: string;
  /** Number of the program's descriptors; at least 3. */
  readonly streamCount: number;
}

/** Converts as many streams as `StartOptions` requested. */
export function asStreams(streams: readonly unknown[]): Streams {
  const [stdin, stdout, stderr, ...others] = streams.filter((stream) => stream instanceof Socket);
  if (stdin === undefined || stdout === undefined || stderr === undefined)
    throw new Error('the process has no streams');
  // The process may end before everything is written; `exited` reports its end.
  for (const stream of [stdin, stdout, stderr, ...others]) stream.on('error', () => undefined);
  return [stdin, stdout, stderr, ...others];
}

/** Resolves when the process is gone and its output was read completely. Never rejects. */
export async function whenClosed({ exited, streams: [, ...outputs] }: StartedProcess): Promise<ProcessExit> {
  const closings = outputs
    .filter(({ closed }) => !closed)
    .map((output) => new Promise((resolve) => output.once('close', resolve)));
  const exit = await exited;
  await Promise.all(closings);
  return exit;
}

export function signalsOf(
  pid: number,
  exited: Promise<unknown>,
): Pick<StartedProcess, 'signal' | 'signalGroup'> {
  let isGone = false;
  void exited.then(() => (isGone = true));
  const send = (target: number, name: NodeJS.Signals): void => {
    if (isGone) return;
    try {
      process.kill(target, name);
    } catch {
      // The process has just ended.
    }
  };
  return { signal: (name) => send(pid, name), signalGroup: (name) => send(-pid, name) };
}

/**
 * Starts a program by forking this process, which is blocked until the program is executed. Rejects with the system's
 * error.
 */
export async function startDirectly(start: Start, options: StartOptions): Promise<StartedProcess> {
  const child = spawn(start.program, start.args, {
    env: options.environment,
    cwd: options.folder,
    stdio: Array.from({ length: options.streamCount }, () => 'pipe' as const),
    // The group is needed by `signalGroup`.
    detached: start.makesGroup !== true,
  });
  const exited = new Promise<ProcessExit>((resolve) => {
    child.once('exit', (exitCode, signal) => resolve({ exitCode, signal }));
  });
  await once(child, 'spawn');
  const { pid } = child;
  if (pid === undefined) throw new Error('the process has no number');
  return { pid, streams: asStreams(child.stdio), exited, ...signalsOf(pid, exited) };
}
