import type { Confinement } from '@phalanx/confinement';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';

import type { Authenticator } from './access/authenticator.ts';
import type { AuditLog } from './audit/audit-log.ts';
import type { Bus } from './bus/bus.ts';
import type { Clock } from './clock.ts';
import type { Db } from './db/database.ts';
import type { GroupCommit } from './db/group-commit.ts';
import type { FaultMonitor } from './faults/fault-monitor.ts';
import type { HostGateway } from './hosts/gateway.ts';
import type { HttpKernel } from './http/kernel.ts';
import type { WebSockets } from './http/web-sockets.ts';
import type { Limits } from './limits/limits.ts';
import type { Others } from './nodes/others.ts';
import type { ServerNode } from './nodes/server-node.ts';
import type { SharedChanges } from './nodes/shared-changes.ts';

/**
 * What every feature stands on. It adds its routes to `app` and ends with it, by its hooks: `preClose` runs before the
 * connections of callers end, `onClose` after it, the last one first.
 */
export interface Foundation {
  readonly app: FastifyInstance;
  readonly hosts: HostGateway;
  readonly webSockets: WebSockets;
  readonly connections: HttpKernel['connections'];
  readonly addressOf: HttpKernel['addressOf'];
  readonly limits: Limits;
  readonly authenticator: Authenticator;
  readonly database: Db;
  /** To the other servers of the database; undefined: there are none. */
  readonly bus: Bus | undefined;
  readonly others: Others | undefined;
  /** By other servers, of what this one knows by heart. */
  readonly changes: SharedChanges | undefined;
  readonly node: ServerNode;
  readonly commits: GroupCommit;
  readonly audit: AuditLog;
  readonly dataDir: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly faults: FaultMonitor;
  /** What holds the processes that work with what users wrote. */
  readonly confinement: Confinement;
}
