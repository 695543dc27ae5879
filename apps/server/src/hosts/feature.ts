import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { addBackgroundJob, periodically } from '../background-job.ts';
import type { Context } from '../context.ts';
import { HostSessions } from './host-sessions.ts';
import { createKnownHostStore, createHostStore, type HostStore } from './store.ts';
import { KnownHosts, ConnectedHosts } from './connected-hosts.ts';
import { type Bus, subscribeTo } from '../bus/bus.ts';
import type { FaultMonitor } from '../faults/fault-monitor.ts';
import type { HostGateway } from './gateway.ts';

export interface Hosts {
  /** The hosts of all servers, to send to and to ask. */
  readonly connected: ConnectedHosts;
  readonly known: KnownHosts;
  readonly sessions: HostSessions;
}

/** The hosts of all servers, and which connection of each is the valid one. */
export function openHosts(context: Context): Hosts {
  const { app, database, cluster, node, commits, hosts, clock, limits, faults, timing } = context;
  const store = createHostStore(database, commits);
  const connected = new ConnectedHosts(hosts.on, cluster.bus);
  const sessions = new HostSessions({ limits, clock, faults, node, store });
  hosts.admitBy(sessions);
  const replaced = new ReplacedHosts({ bus: cluster.bus, store, hosts, faults });
  app.addHook('onClose', () => replaced.close());
  app.addHook('onClose', () => sessions.endsStored());
  const known = new KnownHosts({ store: createKnownHostStore(database), connected, nodeId: node.id });
  addBackgroundJob(context, {
    name: 'drop hosts whose tokens have expired',
    everyMs: timing.sweepMs,
    onEachServer: true,
    work: () => hosts.dropExpired(),
  });
  return { connected, known, sessions };
}

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
class ReplacedHosts {
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
