import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** Creates a proxy to an address that delays every byte by half of `roundTripMs`. Returns its port. */
export async function layCable(target: { host: string; port: number }, roundTripMs: number): Promise<number> {
  const server = createServer({ noDelay: true }, (near) => {
    const far = connect(target).setNoDelay(true);
    carry(near, far, roundTripMs / 2);
    carry(far, near, roundTripMs / 2);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // The address of a TCP server is never a string.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return (server.address() as AddressInfo).port;
}

function carry(from: Socket, to: Socket, delayMs: number): void {
  from.on('data', (chunk) => setTimeout(() => to.write(chunk), delayMs));
  from.on('close', () => setTimeout(() => to.destroy(), delayMs));
  from.on('error', () => to.destroy());
}
