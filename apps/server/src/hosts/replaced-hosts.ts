import { Type } from 'typebox';
import { Compile } from 'typebox/compile';

import { type Bus, subscribeTo } from '../bus/bus.ts';
import type { FaultMonitor } from '../faults/fault-monitor.ts';
import { periodically } from '../background-job.ts';
import type { HostGateway } from './gateway.ts';
import type { HostStore } from './store.ts';

const Opened = Compile(Type.Object({ userId: Type.String(), hostId: Type.String(), epoch: Type.Integer() }));
const subject = 'hosts';
const lookEveryMs = 1000;

interface Options {
  bus: Bus;
  store: Pick<HostStore, 'listReplaced'>;
  hosts: HostGateway;
  faults: FaultMonitor;
}

/** Ends the connections of hosts that have connected to another server since. */
export class ReplacedHosts {
  readonly #ends: (() => unknown)[];

  constructor({ bus, store, hosts, faults }: Options) {
    hosts.on('hello', ({ userId, hostId, epoch }) =>
      bus.publish(subject, JSON.stringify({ userId, hostId, epoch })),
    );
    this.#ends = [
      subscribeTo(bus, subject, Opened, (opened) => hosts.dropOlder(opened)),
      // What no message has told.
      periodically(faults, lookEveryMs, async () => {
        const epochs = hosts.epochs();
        if (epochs.length > 0) hosts.dropEpochs(await store.listReplaced(epochs));
      }),
    ];
  }

  async close(): Promise<void> {
    for (const end of this.#ends) await end();
  }
}
