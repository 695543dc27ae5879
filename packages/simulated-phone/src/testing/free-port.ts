import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Lowest port of a range below the ports that systems assign by themselves: no other program takes one before it is
 * used, or during a restart of its user.
 */
const lowest = 15_000;
const highest = 30_000;
const maxTries = 100;

/** Returns a port of this machine on which no program listens. */
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
