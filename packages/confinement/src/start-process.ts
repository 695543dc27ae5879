import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server, Socket } from 'node:net';
import { constants } from 'node:os';
import { getSystemErrorMap } from 'node:util';

import { launcherOfThisMachine, openConfinement, type Start } from './confinement.ts';
import { withParent } from './policy.ts';
import {
  startDirectly,
  type StartedProcess,
  type StartOptions,
  asStreams,
  signalsOf,
  type ProcessExit,
} from './started-process.ts';

let opening: Promise<Starter | undefined> | undefined;

/**
 * Starts a program. A program with the launcher (`Confinement.wrap`, `endingWithCaller`) starts without blocking the
 * event loop. Rejects with the system's error when it can't be started.
 */
export async function startProcess(start: Start, options: StartOptions): Promise<StartedProcess> {
  const starter = start.makesGroup === true ? await findStarter() : undefined;
  const { pid } = starter ?? {};
  if (starter === undefined || pid === undefined) return startDirectly(start, options);
  try {
    return await starter.start({ ...start, args: withParent(start.args, pid) }, options);
  } catch (error) {
    if (error instanceof StarterEnded) return startDirectly(start, options);
    throw error;
  }
}

async function findStarter(): Promise<Starter | undefined> {
  const starter = await (opening ??= openStarter());
  if (starter?.hasEnded !== true) return starter;
  opening = undefined;
  return findStarter();
}

/** Opens the starter; undefined when this machine has no launcher. */
async function openStarter(): Promise<Starter | undefined> {
  const launcher = launcherOfThisMachine();
  // Opening the confinement moves this process to another control group, in which the starter has to be.
  await openConfinement();
  return launcher === undefined ? undefined : Starter.open(launcher).catch(() => undefined);
}

/** Thrown when the starter ended before it reported the start of the program, which then has ended too. */
class StarterEnded extends Error {
  override readonly name = 'StarterEnded';
}

interface Starting {
  readonly program: string;
  readonly streams: (Socket | undefined)[];
  started: { pid: number; exited: Promise<ProcessExit> } | undefined;
  readonly resolve: (process: StartedProcess) => void;
  readonly reject: (error: Error) => void;
}

const secretBytes = 16;
const greetingBytes = secretBytes + 8;
const greetingMs = 5000;
const maxRequestBytes = 1024 * 1024;

/**
 * Small process that starts programs on behalf of this one (`native/confine.c` describes the protocol). A fork copies
 * the page tables of a large process, and libuv waits until the child is executed, which takes 100 ms on a crowded
 * machine.
 */
class Starter {
  readonly #child: ChildProcess;
  readonly #server: Server;
  readonly #secret: Buffer;
  readonly #starting = new Map<number, Starting>();
  readonly #running = new Map<number, (exit: ProcessExit) => void>();
  #lastId = 0;
  #text = '';
  #hasEnded = false;

  /** Starts the starter. Rejects when it can't be started. */
  static async open(launcher: string): Promise<Starter> {
    const name = `phalanx-${randomBytes(12).toString('hex')}`;
    const server = createServer().listen({ path: `\0${name}` });
    await once(server, 'listening');
    const child = spawn(launcher, ['--starter', name, String(process.pid)], {
      env: {},
      cwd: '/',
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    try {
      await once(child, 'spawn');
      return new Starter(child, server);
    } catch (error) {
      server.close();
      throw error;
    }
  }

  private constructor(child: ChildProcess, server: Server) {
    this.#child = child;
    this.#server = server;
    this.#secret = randomBytes(secretBytes);
    server.on('connection', (socket) => this.#greet(socket)).unref();
    // A starter that is gone has already given the reason on its output.
    child.stdin?.on('error', () => undefined);
    child.stdout?.setEncoding('utf8').on('data', (text: string) => this.#read(text));
    child.stdout?.once('close', () => this.#end());
    child.stdin?.write(this.#secret);
    child.unref();
    if (child.stdin instanceof Socket) child.stdin.unref();
    this.#keepAwake();
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Process ID of the starter, which is the parent of its programs. */
  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** Starts a program. Rejects with the system's error, or with `StarterEnded`. */
  start(start: Start, options: StartOptions): Promise<StartedProcess> {
    const id = (this.#lastId += 1);
    const request = encodeRequest(id, start, options);
    if (request.length > maxRequestBytes) throw systemError('E2BIG', start.program);
    return new Promise((resolve, reject) => {
      if (this.#hasEnded) return reject(new StarterEnded());
      const streams = Array.from({ length: options.streamCount }, () => undefined);
      this.#starting.set(id, { program: start.program, streams, started: undefined, resolve, reject });
      this.#keepAwake();
      this.#child.stdin?.write(request);
    });
  }

  /** Keeps this process alive only while a program is starting or running. */
  #keepAwake(): void {
    const { stdout } = this.#child;
    if (!(stdout instanceof Socket)) return;
    if (this.#starting.size + this.#running.size > 0) stdout.ref();
    else stdout.unref();
  }

  #read(text: string): void {
    const lines = (this.#text + text).split('\n');
    this.#text = lines.pop() ?? '';
    for (const line of lines) {
      const [what, which = 0, value = 0] = line
        .split(' ')
        .map((word, at) => (at === 0 ? word : Number(word)));
      this.#handle(String(what), Number(which), Number(value));
    }
    this.#keepAwake();
  }

  #handle(what: string, which: number, value: number): void {
    if (what === 'exited') {
      this.#running.get(which)?.(exitOf(value));
      this.#running.delete(which);
    } else if (what === 'started') this.#started(which, value);
    else {
      const program = this.#starting.get(which)?.program ?? '';
      this.#failed(which, systemError(systemErrorName(value), program));
    }
  }

  #started(id: number, pid: number): void {
    const { promise, resolve } = Promise.withResolvers<ProcessExit>();
    this.#running.set(pid, resolve);
    const starting = this.#starting.get(id);
    if (starting === undefined) return;
    starting.started = { pid, exited: promise };
    this.#finish(id, starting);
  }

  #failed(id: number, error: Error): void {
    const starting = this.#starting.get(id);
    this.#starting.delete(id);
    for (const stream of starting?.streams ?? []) stream?.destroy();
    starting?.reject(error);
  }

  #finish(id: number, { streams, started, resolve }: Starting): void {
    if (started === undefined || streams.includes(undefined)) return;
    this.#starting.delete(id);
    // The program may have ended before its streams were connected.
    this.#keepAwake();
    const [stdin] = streams;
    void started.exited.then(() => {
      stdin?.destroy();
      // Unread output would keep this process alive.
      for (const stream of streams) if (stream?.readableFlowing === null) stream.resume();
    });
    resolve({ ...started, streams: asStreams(streams), ...signalsOf(started.pid, started.exited) });
  }

  /** Reads only the greeting; later data belongs to the program. */
  #greet(socket: Socket): void {
    const timer = setTimeout(() => socket.destroy(), greetingMs).unref();
    const read = (): void => {
      const greeting: unknown = socket.read(greetingBytes);
      if (!Buffer.isBuffer(greeting)) return;
      clearTimeout(timer);
      socket.off('readable', read);
      this.#take(socket, greeting);
    };
    socket.on('readable', read).on('error', () => socket.destroy());
  }

  #take(socket: Socket, greeting: Buffer): void {
    const id = greeting.length === greetingBytes ? greeting.readUInt32LE(secretBytes) : 0;
    const starting = this.#starting.get(id);
    if (starting === undefined || !greeting.subarray(0, secretBytes).equals(this.#secret)) {
      socket.destroy();
      return;
    }
    starting.streams[greeting.readUInt32LE(secretBytes + 4)] = socket;
    this.#finish(id, starting);
  }

  #end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#server.close();
    for (const id of this.#starting.keys()) this.#failed(id, new StarterEnded());
    // The kernel ends the programs with their parent.
    for (const exit of this.#running.values()) exit({ exitCode: null, signal: 'SIGKILL' });
    this.#running.clear();
  }
}

function encodeRequest(id: number, { program, args }: Start, options: StartOptions): Buffer {
  const { environment, folder, streamCount } = options;
  const variables = Object.entries(environment).map(([name, value]) => `${name}=${value}`);
  const texts = Buffer.from([folder, program, ...args, ...variables].map((text) => `${text}\0`).join(''));
  const head = Buffer.alloc(16);
  [texts.length + 12, id, streamCount, args.length + 1].forEach((value, at) =>
    head.writeUInt32LE(value, at * 4),
  );
  return Buffer.concat([head, texts]);
}

/** Decodes a status of wait(2). */
function exitOf(status: number): ProcessExit {
  const signalNumber = status & 0x7f;
  if (signalNumber === 0) return { exitCode: status >> 8, signal: null };
  const name = Object.entries(constants.signals).find(([, number]) => number === signalNumber)?.[0];
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the table of the system has these names
  return { exitCode: null, signal: (name ?? 'SIGKILL') as NodeJS.Signals };
}

const systemErrorName = (number: number): string =>
  getSystemErrorMap().get(-number)?.[0] ?? `errno ${number}`;

const systemError = (code: string, program: string): NodeJS.ErrnoException =>
  Object.assign(new Error(`${program} cannot be started: ${code}`), { code });
