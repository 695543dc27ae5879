import type { Socket } from 'node:net';
import { constants, setPriority } from 'node:os';
import { errorText } from '@phalanx/settings';

import {
  lowerPriority,
  nodeFiles,
  startProcess,
  type Confinement,
  type Policy,
  type StartedProcess,
} from '@phalanx/confinement';
import {
  maxSandboxReportBytes,
  type SandboxBoot,
  SandboxReport,
  type SandboxCommand,
} from '@phalanx/protocol';
import { Compile } from 'typebox/compile';

import type { SandboxBundles } from './bundles.ts';
import { createFrameReader, encodeFrame } from './frames.ts';

/** Maximum length of a dying child's output (V8's fatal errors) that is kept for the host's own log. */
const maxStderrLength = 4000;
const megabyte = 1024 * 1024;

/** End of a child's process. */
export interface ChildExit {
  signal: NodeJS.Signals | null;
  exitCode: number | null;
  stderr: string;
  /** Set when the process could not be started. */
  startError?: string;
}

/** Process that runs user code in full confinement and exchanges frames with the host. */
export interface ConfinedChild<Command, Report> {
  readonly pid: number | undefined;
  readonly memoryMb: number;
  /** Resolves when the last report was handed over and the process is gone. Never rejects. */
  readonly exited: Promise<ChildExit>;
  send(command: Command): void;
  /** Lowers the priority permanently, below all other processes. */
  giveWay(): void;
  kill(): void;
  /** Receives all reports in order. No more are read until its promise settles. */
  onReports: (batch: Report[]) => Promise<void>;
}

export interface ConfinedStart<Report> {
  bundles: SandboxBundles;
  confinement: Confinement;
  memoryMb: number;
  /** Parses a report. Throws when no child of this kind sends it. */
  parseReport: (value: unknown) => Report;
  env?: Record<string, string>;
  /** Takes the other end of the socket through which the child fetches. Without it, the child gets no such socket. */
  serveFetches?: (socket: Socket) => Promise<void>;
  /** Calls `start` when it may run, and holds the turn until its promise settles. Default: at once. */
  inTurn?: (start: () => Promise<void>) => unknown;
}

/** Starts a process that gets its program in the first frame. Never throws; `exited` reports failures. */
export function spawnConfinedChild<Command, Report>(
  start: ConfinedStart<Report>,
): ConfinedChild<Command, Report> {
  return new StartedChild(start);
}

function startWrapped(start: ConfinedStart<unknown>): Promise<StartedProcess> {
  const wrapped = wrap(start);
  const streamCount = start.serveFetches === undefined ? 3 : 4;
  const starting = startProcess(wrapped, { environment: start.env ?? {}, folder: '/', streamCount });
  if (wrapped.makesGroup !== true) void starting.then(({ pid }) => startLower(pid)).catch(() => {});
  return starting;
}

function wrap({
  bundles,
  confinement,
  memoryMb,
  serveFetches,
}: ConfinedStart<unknown>): ReturnType<Confinement['wrap']> {
  const command = { program: process.execPath, args: childArguments(bundles, memoryMb) };
  return confinement.wrap(command, childPolicy(bundles, serveFetches === undefined ? [] : [3]));
}

class StartedChild<Command, Report> implements ConfinedChild<Command, Report> {
  readonly memoryMb: number;
  readonly exited: Promise<ChildExit>;
  onReports: (batch: Report[]) => Promise<void> = async () => {};
  /** Rejects when the process could not be started, which `exited` reports. */
  readonly #served: Promise<Socket>;
  readonly #starting = Promise.withResolvers<StartedProcess>();
  readonly #spoke = Promise.withResolvers<void>();
  #process: StartedProcess | undefined;
  #isInTurn = false;
  #isKilled = false;

  constructor(start: ConfinedStart<Report>) {
    this.memoryMb = start.memoryMb;
    const begun = this.#starting.promise.then((started) => this.#begin(started, start));
    this.#served = begun.then(async ({ streams: [stdin, , , fetches] }) => {
      if (fetches !== undefined) await start.serveFetches?.(fetches);
      return stdin;
    });
    this.#served.catch(() => {});
    this.exited = begun.then((started) => this.#follow(started, start)).catch(notStarted);
    const { inTurn = (now) => now() } = start;
    inTurn(() => this.#start(start));
  }

  get pid(): number | undefined {
    return this.#process?.pid;
  }

  send(command: Command): void {
    this.#served.then(
      (stdin) => stdin.write(encodeFrame(command)),
      () => {},
    );
  }

  giveWay(): void {
    this.#starting.promise.then(({ pid }) => lowerPriority(pid)).catch(() => {});
  }

  kill(): void {
    this.#isKilled = true;
    this.#process?.signal('SIGKILL');
    if (!this.#isInTurn) this.#starting.reject(new Error('It was ended before its turn to start came.'));
  }

  /** Starts the process. Resolves with its first report, which a child sends when it is ready, or when it is gone. */
  async #start(start: ConfinedStart<Report>): Promise<void> {
    if (this.#isKilled) return;
    this.#isInTurn = true;
    this.#starting.resolve((async () => startWrapped(start))());
    await Promise.race([this.#spoke.promise, this.exited]);
  }

  #begin(started: StartedProcess, { bundles, memoryMb }: ConfinedStart<Report>): StartedProcess {
    this.#process = started;
    if (this.#isKilled) this.kill();
    const { snapshot, program, isolatedVmPath } = bundles;
    const boot: SandboxBoot = { program, snapshotBytes: snapshot.length, isolatedVmPath, memoryMb };
    started.streams[0].write(encodeFrame(boot));
    started.streams[0].write(snapshot);
    return started;
  }

  /** Reads the process's reports. Resolves after the last one was handed over. */
  async #follow(
    { streams: [, stdout, stderr], exited }: StartedProcess,
    { parseReport }: ConfinedStart<Report>,
  ): Promise<ChildExit> {
    let said = '';
    stderr.on('data', (bytes: Buffer) => {
      said = (said + bytes.toString()).slice(-maxStderrLength);
    });
    const hand = async (batch: unknown[]): Promise<void> => {
      this.#spoke.resolve();
      await this.onReports(batch.map(parseReport));
    };
    await readReports(stdout, hand).catch(() => this.kill());
    return { ...(await exited), stderr: said };
  }
}

const notStarted = (error: unknown): ChildExit => ({
  signal: null,
  exitCode: null,
  stderr: '',
  startError: errorText(error),
});

function childArguments({ readablePaths }: SandboxBundles, memoryMb: number): string[] {
  return [
    '--permission',
    '--allow-addons',
    ...readablePaths.map((path) => `--allow-fs-read=${path}/*`),
    // The loader of isolated-vm checks for this file to distinguish musl from glibc.
    '--allow-fs-read=/etc/alpine-release',
    // This flag sets the limit of the isolate's heap, not isolated-vm's own option.
    `--max-old-space-size=${memoryMb}`,
    '--no-node-snapshot',
    withoutOpenSslFile,
    '--disable-warning=SecurityWarning',
    '--eval',
    bootScript,
  ];
}

/**
 * Maximum data segment in bytes. V8's heap, the isolate's heap and their code stay far below; a process that exceeds it
 * dies.
 */
const maxDataBytes = 2.25 * 1024 * megabyte;

/**
 * Node option without OpenSSL settings: OpenSSL aborts when it may not read its settings file, and nothing here needs
 * it.
 */
export const withoutOpenSslFile = '--openssl-config=/dev/null';

function childPolicy({ readablePaths }: SandboxBundles, keptDescriptors: readonly number[]): Policy {
  const node = nodeFiles();
  return {
    ...node,
    readable: [...node.readable, ...readablePaths],
    keptDescriptors,
    emptyNetwork: true,
    ownRoot: true,
    maxDataBytes,
    maxFileBytes: 0,
    maxOpenFiles: 256,
  };
}

/** Lowers the priority of a child that no launcher has lowered. */
function startLower(pid: number): void {
  try {
    setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // The child has already exited, or the system denies it.
  }
}

async function readReports(
  stdout: AsyncIterable<Buffer>,
  onReports: (batch: unknown[]) => Promise<void>,
): Promise<void> {
  const read = createFrameReader(maxSandboxReportBytes);
  for await (const bytes of stdout) {
    const batch = read(bytes);
    if (batch.length > 0) await onReports(batch);
  }
}

/**
 * First code of a process, passed by `--eval`. It reads the boot frame and the V8 snapshot after it from stdin, so that
 * no file of the program has to be readable, and starts the program. Plain CommonJS, which Node runs unchanged.
 */
export const bootScript = `'use strict';
const { readSync } = require('node:fs');
const { compileFunction } = require('node:vm');
const read = (size) => {
  const bytes = Buffer.allocUnsafeSlow(size);
  for (let done = 0; done < size; ) {
    const count = readSync(0, bytes, done, size - done);
    if (count === 0) process.exit(0);
    done += count;
  }
  return bytes;
};
const boot = JSON.parse(read(read(4).readUInt32BE()).toString());
const snapshot = read(boot.snapshotBytes ?? 0).buffer;
const program = { exports: {} };
compileFunction(boot.program, ['require', 'module', 'exports'], { filename: 'program.js' })(require, program, program.exports);
Promise.try(() => program.exports.main({ ...boot, snapshot }, require)).catch((error) => {
  console.error(error);
  process.exit(70);
});
`;

const reports = Compile(SandboxReport);

/** Process of one run. */
export type SandboxChild = ConfinedChild<SandboxCommand, SandboxReport>;

/** Start options that every child shares. */
export interface ChildGround {
  bundles: SandboxBundles;
  confinement: Confinement;
  /** Takes the other end of the socket through which a child fetches. The child may fetch once this has resolved. */
  serveFetches: (socket: Socket) => Promise<void>;
  /** Limits concurrent starts, as in `ConfinedStart`. */
  inTurn?: (start: () => Promise<void>) => unknown;
}

/** Starts a process that prepares an isolate and then waits for a job. Never throws; `exited` reports failures. */
export const spawnSandboxChild = (ground: ChildGround, memoryMb: number): SandboxChild =>
  spawnConfinedChild({ ...ground, memoryMb, parseReport: (value) => reports.Parse(value) });
