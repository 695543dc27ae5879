import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

/** Somebody accepts connections at this port of this machine. */
export async function untilListening(port: number): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    const socket = connect(port, '127.0.0.1');
    try {
      await once(socket, 'connect');
      return;
    } catch (error) {
      if (tries === 600) throw error;
      await wait(100);
    } finally {
      socket.destroy();
    }
  }
}
