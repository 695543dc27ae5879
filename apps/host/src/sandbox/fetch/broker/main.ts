import { NameResolver } from '@phalanx/egress';
import { Socket } from 'node:net';

import { serveFetches } from './serve-fetches.ts';

export interface BrokerBoot {
  allowPrivateAddresses: boolean;
}

/**
 * Runs the program of the broker: makes the requests of each socket that the host hands over, until the host is gone.
 */
export function main({ allowPrivateAddresses }: BrokerBoot): void {
  const resolver = new NameResolver();
  process.on('message', (_, handle) => {
    // Follows Node's own acknowledgement of the handle.
    process.send?.({ type: 'served' });
    if (!(handle instanceof Socket)) return;
    handle.on('error', () => handle.destroy());
    void serveFetches(handle, { allowPrivateAddresses, resolver });
  });
  process.on('disconnect', () => process.exit());
}
