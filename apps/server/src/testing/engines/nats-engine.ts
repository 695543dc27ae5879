import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { freePort } from '@phalanx/simulated-phone/testing/free-port';

import { untilListening } from './until-listening.ts';

export interface NatsEngine {
  /** URL with its user and password. */
  readonly url: string;
  /** Ends it without a word. */
  kill(): Promise<void>;
  /** Starts it at the same address. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** The program of Debian's package. */
const program = '/usr/sbin/nats-server';
export const isNatsHere = existsSync(program);
const user = 'phalanx';
/** Password with characters that an address has only as % codes. */
const password = 'höflich/@:%';

/** A NATS of its own. It ends with this process. Undefined where it is not installed. */
export async function startNats(): Promise<NatsEngine | undefined> {
  if (!isNatsHere) return undefined;
  const port = await freePort();
  let child: ChildProcess | undefined;
  const start = async (): Promise<void> => {
    const admission = ['--user', user, '--pass', password];
    const command = ['--pdeathsig', 'KILL', program, '-a', '127.0.0.1', '-p', `${port}`, ...admission];
    child = spawn('setpriv', command, { stdio: 'ignore' });
    // NATS speaks first.
    await untilListening(port, 'data');
  };
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
  };
  await start();
  const url = `nats://${user}:${encodeURIComponent(password)}@127.0.0.1:${port}`;
  return { url, kill: () => end('SIGKILL'), start, stop: () => end('SIGTERM') };
}
