import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { connect } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

import { freePort } from './free-port.ts';

export interface NatsEngine {
  readonly url: string;
  /** Ends it without a word. */
  kill(): Promise<void>;
  /** At the same address. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** Debian's. */
const program = '/usr/sbin/nats-server';

async function untilReady(port: number): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    const socket = connect(port, '127.0.0.1');
    try {
      // NATS speaks first.
      await once(socket, 'data');
      return;
    } catch (error) {
      if (tries === 300) throw error;
      await wait(20);
    } finally {
      socket.destroy();
    }
  }
}

/** A NATS of its own. It ends with this process. Undefined where it is not installed. */
export async function startNats(): Promise<NatsEngine | undefined> {
  if (!existsSync(program)) return undefined;
  const port = await freePort();
  let child: ChildProcess | undefined;
  const start = async (): Promise<void> => {
    const command = ['--pdeathsig', 'KILL', program, '-a', '127.0.0.1', '-p', `${port}`];
    child = spawn('setpriv', command, { stdio: 'ignore' });
    await untilReady(port);
  };
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
  };
  await start();
  return { url: `nats://127.0.0.1:${port}`, kill: () => end('SIGKILL'), start, stop: () => end('SIGTERM') };
}
