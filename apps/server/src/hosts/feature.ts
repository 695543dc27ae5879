import { addBackgroundJob } from '../background-job.ts';
import type { Context } from '../context.ts';
import { HostSessions } from './host-sessions.ts';
import { createKnownHostStore } from './known-host-store.ts';
import { KnownHosts } from './known-hosts.ts';
import { LinkedHosts } from './linked-hosts.ts';
import { ReplacedHosts } from './replaced-hosts.ts';
import { createHostStore } from './store.ts';

export interface Hosts {
  /** The hosts of all servers, to send to and to ask. */
  readonly linked: LinkedHosts;
  readonly known: KnownHosts;
  readonly sessions: HostSessions;
}

/** The hosts of all servers, and which connection of each is the valid one. */
export function openHosts(context: Context): Hosts {
  const { app, database, cluster, node, commits, hosts, clock, limits, faults, timing } = context;
  const store = createHostStore(database, commits);
  const linked = new LinkedHosts(hosts.on, cluster.bus);
  const sessions = new HostSessions({ limits, clock, faults, node, store });
  hosts.admitBy(sessions);
  const replaced = new ReplacedHosts({ bus: cluster.bus, store, hosts, faults });
  app.addHook('onClose', () => replaced.close());
  app.addHook('onClose', () => sessions.endsStored());
  const known = new KnownHosts({ store: createKnownHostStore(database), linked, nodeId: node.id });
  addBackgroundJob(context, {
    name: 'drop hosts whose tokens have expired',
    everyMs: timing.sweepMs,
    onEachServer: true,
    work: () => hosts.dropExpired(),
  });
  return { linked, known, sessions };
}
