import type { Socket } from 'node:net';
import { constants, setPriority } from 'node:os';

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

/** Maximum length of a dying child's words (V8's fatal errors) that are kept for the host's own log. */
const maxStderrLength = 4000;
const megabyte = 1024 * 1024;

/** End of a child's process. */
export interface ChildExit {
  signal: NodeJS.Signals | null;
  exitCode: number | null;
  stderr: string;
  /** Set when there never was a process. */
  startError?: string;
}

/** A process that runs user code behind all walls, and is spoken to in frames. */
export interface ConfinedChild<Command, Report> {
  readonly pid: number | undefined;
  readonly memoryMb: number;
  /** Settles after the last report was handed over and the process is gone. Never rejects. */
  readonly exited: Promise<ChildExit>;
  send(command: Command): void;
  /** Lowers the priority for good: from now on all else goes first. */
  giveWay(): void;
  kill(): void;
  /** All reports go here, in order; no more are read until its promise settles. */
  onReports: (batch: Report[]) => Promise<void>;
}

export interface ConfinedStart<Report> {
  bundles: SandboxBundles;
  confinement: Confinement;
  memoryMb: number;
  /** Throws for what no child of this kind says. */
  parseReport: (value: unknown) => Report;
  env?: Record<string, string>;
  /** Takes the other end of the socket through which the child fetches; without it, there is none. */
  serveFetches?: (socket: Socket) => Promise<void>;
  /** Calls `start` when it may, and holds its turn until the promise of it settles. Default: at once. */
  inTurn?: (start: () => Promise<void>) => unknown;
}

/** Starts a process that gets what it needs in its first frame. Never throws: `exited` tells of failures. */
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
  /** Rejects when there never is a process, of which `exited` tells. */
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

  /** Resolves when the child has said its first word, which it does when it is ready, or is gone. */
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

  /** Resolves after its last report was handed over. */
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
  startError: error instanceof Error ? error.message : String(error),
});

function childArguments({ readablePaths }: SandboxBundles, memoryMb: number): string[] {
  return [
    '--permission',
    '--allow-addons',
    ...readablePaths.map((path) => `--allow-fs-read=${path}/*`),
    // The loader of isolated-vm looks for this file to tell musl from glibc.
    '--allow-fs-read=/etc/alpine-release',
    // This flag, and not isolated-vm's own option, sets the limit of the isolate's heap.
    `--max-old-space-size=${memoryMb}`,
    '--no-node-snapshot',
    withoutOpenSslFile,
    '--disable-warning=SecurityWarning',
    '--eval',
    bootScript,
  ];
}

/** V8's heap, the isolate's and their code stay far below; what goes on beyond that ends the process. */
const maxDataBytes = 2.25 * 1024 * megabyte;

/** OpenSSL gives up when it may not read its settings; nothing here needs any. */
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

/** Lowers the priority of a child where no launcher does it. */
function startLower(pid: number): void {
  try {
    setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // The child is already gone, or the system does not allow it.
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
 * The first code of a process, passed by `--eval`: reads the boot frame from stdin, so that its own program
 * needs no file to be readable, and a V8 snapshot behind it, then starts the program. Plain CommonJS, run by Node as it is.
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

/** The process of one run. */
export type SandboxChild = ConfinedChild<SandboxCommand, SandboxReport>;

/** Start options that every child shares. */
export interface ChildGround {
  bundles: SandboxBundles;
  confinement: Confinement;
  /** Takes the other end of the socket through which a child fetches. The child may fetch when it has resolved. */
  serveFetches: (socket: Socket) => Promise<void>;
  /** Same as in `ConfinedStart`. */
  inTurn?: (start: () => Promise<void>) => unknown;
}

/** Starts a process that makes an isolate ready and then waits for a job. Never throws: `exited` tells of failures. */
export const spawnSandboxChild = (ground: ChildGround, memoryMb: number): SandboxChild =>
  spawnConfinedChild({ ...ground, memoryMb, parseReport: (value) => reports.Parse(value) });
