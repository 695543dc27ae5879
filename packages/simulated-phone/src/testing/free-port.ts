import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Ports below those that systems assign on their own: nobody else gets one before it is used, or while its user
 * is started anew.
 */
const lowest = 15_000;
const highest = 30_000;
const maxTries = 100;

/** A port of this machine that nobody listens on at this moment. */
export async function freePort(): Promise<number> {
  for (let tries = 1; ; tries += 1) {
    const port = randomInt(lowest, highest);
    const server = createServer().listen(port, '127.0.0.1');
    try {
      await once(server, 'listening');
      server.close();
      await once(server, 'close');
      return port;
    } catch (error) {
      if (tries === maxTries) throw error;
    }
  }
}
