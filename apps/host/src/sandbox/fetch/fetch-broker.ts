import { spawn, type ChildProcess } from 'node:child_process';
import type { Socket } from 'node:net';
import path from 'node:path';
import { nodeFiles, type Confinement, type Policy } from '@phalanx/confinement';
import type { Logger } from 'pino';
import { bootScript, withoutOpenSslFile } from '../process/confined-child.ts';
import { encodeFrame } from '../process/frames.ts';
import type { BrokerBoot } from './broker/main.ts';

interface FetchBrokerOptions {
  /** Source code of the broker's program, CommonJS. */
  program: string;
  /** Whether `fetch` in user code may reach private addresses. */
  allowPrivateAddresses: boolean;
  confinement: Confinement;
  /** Called when the broker has ended by itself: its runs can't fetch any more. */
  onGone: () => void;
  log: Logger | undefined;
}

/** Files that name resolution reads. */
const resolverFiles = ['hosts', 'resolv.conf', 'nsswitch.conf', 'gai.conf', 'host.conf', 'services'];

/**
 * Single process of a host that makes the HTTP requests of user code: the sandbox processes have no network. It runs no
 * user code. When it ends, the requests in flight fail, and a new broker serves the processes that start later.
 */
export class FetchBroker {
  readonly #options: FetchBrokerOptions;
  #process: ChildProcess | undefined;
  /** Callbacks for the broker's acknowledgements of sockets, in the order in which the sockets were sent. */
  readonly #handingOver: (() => void)[] = [];
  #isClosed = false;

  constructor(options: FetchBrokerOptions) {
    this.#options = options;
  }

  /**
   * Serves the run at the other end of the socket. The socket then belongs to the broker. Resolves when the broker has
   * received it, or has ended. Data sent before that is lost, because Node reads from a socket until then.
   */
  serve(socket: Socket): Promise<void> {
    socket.on('error', () => socket.destroy());
    this.#process ??= this.#start();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#handingOver.push(resolve);
    this.#process.send({ type: 'serve' }, socket, (error) => {
      if (error !== null) socket.destroy();
    });
    return promise;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const running = this.#process;
    if (running === undefined) return;
    const ended = new Promise<void>((resolve) => running.once('exit', () => resolve()));
    running.kill('SIGKILL');
    await ended;
  }

  #start(): ChildProcess {
    const { program, allowPrivateAddresses, confinement, log } = this.#options;
    const start = {
      program: process.execPath,
      args: [withoutOpenSslFile, '--eval', bootScript],
    };
    const wrapped = confinement.wrap(start, policy());
    const child = spawn(wrapped.program, wrapped.args, {
      detached: wrapped.makesGroup !== true,
      env: {},
      cwd: '/',
      stdio: ['pipe', 'ignore', 'pipe', 'ipc'],
    });
    let printed = '';
    child.stderr?.on('data', (bytes: Buffer) => (printed = (printed + bytes.toString()).slice(-2000)));
    child.stdin?.on('error', () => {});
    let hasServed = false;
    child.on('message', () => {
      hasServed = true;
      this.#handingOver.shift()?.();
    });
    child.on('error', (error) => this.#ended(child, { err: error }));
    child.on('exit', (exitCode, signal) => {
      this.#ended(child, { exitCode, signal, printed });
      // Reports only a broker that has served. Otherwise a broker that can't start would be restarted again and again.
      if (hasServed && !this.#isClosed) this.#options.onGone();
    });
    const boot: BrokerBoot & { program: string } = { program, allowPrivateAddresses };
    child.stdin?.write(encodeFrame(boot));
    log?.debug({ pid: child.pid }, 'the process that makes requests has started');
    return child;
  }

  #ended(child: ChildProcess, how: object): void {
    if (this.#process !== child) return;
    this.#process = undefined;
    for (const resolve of this.#handingOver.splice(0)) resolve();
    if (!this.#isClosed)
      this.#options.log?.error(how, 'the process that makes requests of user code has ended');
  }
}

function policy(): Policy {
  const node = nodeFiles();
  const libraryFolders = new Set(
    node.readable.filter((file) => file.includes('.so')).map((file) => path.dirname(file)),
  );
  return {
    ...node,
    // The C library loads its resolver libraries only on the first lookup.
    readable: [...node.readable, ...libraryFolders, ...resolverFiles.map((name) => `/etc/${name}`)],
    sockets: true,
    keptDescriptors: [3],
  };
}
