import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

const pauseMs = 50;
const maxTries = 1200;

/**
 * Waits until a program accepts connections at this port of this machine; `data`: and has said something, as a program
 * that speaks first does when it is ready.
 */
export async function untilListening(port: number, sign: 'connect' | 'data' = 'connect'): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    const socket = connect(port, '127.0.0.1');
    try {
      await once(socket, sign);
      return;
    } catch (error) {
      if (tries === maxTries) throw error;
      await wait(pauseMs);
    } finally {
      socket.destroy();
    }
  }
}
