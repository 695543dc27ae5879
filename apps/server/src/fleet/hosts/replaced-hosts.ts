import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { periodically } from '../../kernel/periodically.ts';
import type { HostStore } from './store.ts';
import { type Bus, subscribeTo } from '../../storage/bus/bus.ts';
import type { FaultMonitor } from '../../kernel/faults/fault-monitor.ts';
import type { HostGateway } from './gateway.ts';

const Opened = Compile(Type.Object({ userId: Type.String(), hostId: Type.String(), epoch: Type.Integer() }));
const subject = 'hosts';
const lookEveryMs = 1000;

interface Options {
  bus: Bus;
  store: Pick<HostStore, 'listReplaced'>;
  gateway: HostGateway;
  faults: FaultMonitor;
}

/** Closes connections of hosts that have since connected to another server. */
export class ReplacedHosts {
  readonly #ends: (() => unknown)[];

  constructor({ bus, store, gateway, faults }: Options) {
    gateway.on('hello', ({ userId, hostId, epoch }) =>
      bus.publish(subject, JSON.stringify({ userId, hostId, epoch })),
    );
    this.#ends = [
      subscribeTo(bus, subject, Opened, (opened) => gateway.dropOlder(opened)),
      // Finds replacements whose bus message was lost.
      periodically(faults, lookEveryMs, async () => {
        const epochs = gateway.epochs();
        if (epochs.length > 0) gateway.dropEpochs(await store.listReplaced(epochs));
      }),
    ];
  }

  async close(): Promise<void> {
    for (const end of this.#ends) await end();
  }
}
