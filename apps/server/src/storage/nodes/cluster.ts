import type { Logger } from 'pino';
import type { Bus } from '../bus/bus.ts';
import { InProcessNetwork } from '../bus/in-process-network.ts';
import { NatsBus } from '../bus/nats-bus.ts';
import type { Db } from '../db/database.ts';
import { readInstallation } from '../db/installation.ts';
import type { FaultMonitor } from '../../kernel/faults/fault-monitor.ts';
import type { ServerNode } from './server-node.ts';
import { Peers } from './peers.ts';
import { CacheInvalidations } from './cache-invalidations.ts';

interface ClusterDependencies {
  database: Db;
  node: ServerNode;
  faults: FaultMonitor;
  log: Logger;
}

interface ClusterSettings {
  /** Undefined: one server alone. */
  readonly natsUrls: readonly URL[] | undefined;
  /** Name of this server. */
  readonly nodeName: string;
}

/** The other servers of the database, as this one reaches them. A single server is a cluster of one. */
export interface Cluster {
  readonly bus: Bus;
  readonly peers: Peers;
  readonly invalidations: CacheInvalidations;
  close(): Promise<void>;
}

export async function openCluster(
  dependencies: ClusterDependencies,
  settings: ClusterSettings,
): Promise<Cluster> {
  const { database, node, faults } = dependencies;
  const bus = await openBus(dependencies, settings);
  const peers = new Peers({ bus, nodeId: node.id, listOthers: () => node.listOthers() });
  const invalidations = new CacheInvalidations({ database, peers, faults });
  const close = async (): Promise<void> => {
    await invalidations.close();
    await bus.close();
  };
  return { bus, peers, invalidations, close };
}

async function openBus(
  { database, log }: ClusterDependencies,
  { natsUrls, nodeName }: ClusterSettings,
): Promise<Bus> {
  if (natsUrls === undefined) return new InProcessNetwork().join();
  const prefix = `phalanx.${await readInstallation(database)}`;
  return new NatsBus({ urls: natsUrls, name: nodeName, log, prefix });
}
