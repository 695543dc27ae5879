import type { Logger } from 'pino';

import type { Bus } from './bus/bus.ts';
import { NatsBus } from './bus/nats-bus.ts';
import type { ServerConfig } from './config.ts';
import type { Db } from './db/database.ts';
import { readInstallation } from './db/installation.ts';
import type { FaultMonitor } from './faults/fault-monitor.ts';
import { Others } from './nodes/others.ts';
import type { ServerNode } from './nodes/server-node.ts';
import { createSharedChangeStore } from './nodes/shared-change-store.ts';
import { SharedChanges } from './nodes/shared-changes.ts';

interface Ground {
  database: Db;
  node: ServerNode;
  faults: FaultMonitor;
  log: Logger;
}

/** What one of several servers has of the others. */
export interface Together {
  readonly bus: Bus;
  readonly others: Others;
  readonly changes: SharedChanges;
  close(): Promise<void>;
}

/** Undefined: this server is alone. */
export async function openTogether(
  { database, node, faults, log }: Ground,
  { natsUrls, nodeName }: ServerConfig,
): Promise<Together | undefined> {
  if (natsUrls === undefined) return undefined;
  const prefix = `phalanx.${await readInstallation(database)}`;
  const bus = new NatsBus({ urls: natsUrls, name: nodeName, log, prefix });
  const others = new Others({ bus, nodeId: node.id, listOthers: () => node.listOthers() });
  const changes = new SharedChanges({ store: createSharedChangeStore(database), others, faults });
  const close = async (): Promise<void> => {
    await changes.close();
    await bus.close();
  };
  return { bus, others, changes, close };
}
