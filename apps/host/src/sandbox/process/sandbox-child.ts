import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { constants, setPriority } from 'node:os';
import { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';

import { nodeFiles, type Confinement, type Policy } from '@phalanx/confinement';
import {
  maxSandboxReportBytes,
  SandboxReport,
  type SandboxBoot,
  type SandboxCommand,
} from '@phalanx/protocol';
import { Compile } from 'typebox/compile';

import { bootScript } from './boot-script.ts';
import type { SandboxBundles } from './bundles.ts';
import { createFrameReader, encodeFrame } from './frames.ts';

const reports = Compile(SandboxReport);
/** What a dying child says of itself (V8's fatal errors) is kept for the host's own log. */
const maxStderrLength = 4000;
const megabyte = 1024 * 1024;

/** How a child's process ended. */
export interface ChildExit {
  signal: NodeJS.Signals | null;
  exitCode: number | null;
  stderr: string;
  /** Set when there never was a process. */
  startError?: string;
}

export interface SandboxChild {
  readonly pid: number | undefined;
  readonly memoryMb: number;
  /** Settles after the last report was handed over and the process is gone. Never rejects. */
  readonly exited: Promise<ChildExit>;
  send(command: SandboxCommand): void;
  kill(): void;
  /** All reports go here, in order; no more are read until its promise settles. */
  onReports: (batch: SandboxReport[]) => Promise<void>;
}

/** What every child is started with. */
export interface ChildGround {
  bundles: SandboxBundles;
  confinement: Confinement;
  /** Takes the other end of the socket through which a child fetches. The child may fetch when it has resolved. */
  serveFetches: (socket: Socket) => Promise<void>;
}

/** Starts a process that makes an isolate ready and then waits for a job. Never throws: `exited` tells of failures. */
export function spawnSandboxChild(ground: ChildGround, memoryMb: number): SandboxChild {
  const { bundles, confinement } = ground;
  try {
    const start = { program: process.execPath, args: childArguments(bundles, memoryMb) };
    const { program, args } = confinement.wrap(start, childPolicy(bundles));
    const process_ = spawn(program, args, {
      // Ctrl-C in a terminal reaches the whole group of the host, which first has to end its runs in order.
      detached: true,
      env: {},
      cwd: '/',
      stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
    });
    const fetches = process_.stdio[3];
    const served = fetches instanceof Socket ? ground.serveFetches(fetches) : Promise.resolve();
    return attach(process_, { ...bundles, memoryMb }, served);
  } catch (error) {
    // Some errors of the system (a busy binary, no file descriptors left) come at once.
    return notStarted(error, memoryMb);
  }
}

function attach(
  process_: ChildProcessByStdio<Writable, Readable, Readable>,
  boot: SandboxBoot,
  served: Promise<void>,
): SandboxChild {
  const closed = exitOf(process_);
  lowerPriority(process_.pid);
  process_.stdin.on('error', () => {}); // A dead child's stdin: `exited` tells it.
  const child: Omit<SandboxChild, 'exited'> = {
    pid: process_.pid,
    memoryMb: boot.memoryMb,
    onReports: async () => {},
    send: (command) => void served.then(() => process_.stdin.write(encodeFrame(command))),
    kill: () => void process_.kill('SIGKILL'),
  };
  process_.stdin.write(encodeFrame(boot));
  const readToEnd = readReports(process_.stdout, async (batch) => child.onReports(batch)).catch(() =>
    child.kill(),
  );
  return Object.assign(child, { exited: readToEnd.then(async () => closed) });
}

function notStarted(error: unknown, memoryMb: number): SandboxChild {
  const startError = error instanceof Error ? error.message : String(error);
  return {
    pid: undefined,
    memoryMb,
    exited: Promise.resolve({ signal: null, exitCode: null, stderr: '', startError }),
    send: () => {},
    kill: () => {},
    onReports: async () => {},
  };
}

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

function childPolicy({ readablePaths }: SandboxBundles): Policy {
  const node = nodeFiles();
  return {
    ...node,
    readable: [...node.readable, ...readablePaths],
    keptDescriptors: [3],
    emptyNetwork: true,
    maxDataBytes,
    maxFileBytes: 0,
    maxOpenFiles: 256,
  };
}

/** Automations wait for phones most of the time; when they compute, the host's own work goes first. */
function lowerPriority(pid: number | undefined): void {
  try {
    if (pid !== undefined) setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // The child is already gone, or the system does not allow it.
  }
}

async function readReports(
  stdout: AsyncIterable<Buffer>,
  onReports: (batch: SandboxReport[]) => Promise<void>,
): Promise<void> {
  const read = createFrameReader(maxSandboxReportBytes);
  for await (const bytes of stdout) {
    const batch = read(bytes);
    if (batch.length > 0) await onReports(batch.map((report) => reports.Parse(report)));
  }
}

function exitOf(child: ChildProcessByStdio<Writable, Readable, Readable>): Promise<ChildExit> {
  let stderr = '';
  const { promise, resolve } = Promise.withResolvers<ChildExit>();
  // Before anything else, because a start that failed may have left no streams.
  child.on('error', ({ message }) => resolve({ signal: null, exitCode: null, stderr, startError: message }));
  child.on('exit', (exitCode, signal) => resolve({ exitCode, signal, stderr }));
  child.stderr.on('data', (bytes: Buffer) => {
    stderr = (stderr + bytes.toString()).slice(-maxStderrLength);
  });
  child.stderr.on('error', () => {});
  return promise;
}
