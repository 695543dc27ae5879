import type { Scope } from './contract.ts';
import type { Static } from 'typebox';

import type { LiveRequest, WallRequest } from '../phones/live.ts';
import type { Reach } from './reach.ts';

/** Entry point of the service, with its requirements for the caller's token. */
export interface Door {
  /** Scope that the token must have. */
  readonly scope: Scope;
  readonly reach: Reach;
}

/** Entry points that are no endpoints of the API. */
export const otherDoors = {
  /** WebSocket of hosts, and their HTTP requests. */
  host: { scope: 'host', reach: { projects: 'refused', phones: 'refused' } },
  fetch: { scope: 'read', reach: { projects: 'within', phones: 'refused' } },
  push: { scope: 'edit', reach: { projects: 'within', phones: 'refused' } },
  /**
   * Endpoint of MCP. Its tools call endpoints of the API with the same token, and each of these checks the token again.
   */
  mcp: { scope: 'read', reach: { projects: 'within', phones: 'calls' } },
} as const satisfies Record<string, Door>;

const reachesNothing: Reach = { projects: 'open', phones: 'none' };

/** Messages of viewers on their WebSockets. The access of the token to a phone is checked again for each picture. */
export const viewerMessages: Record<
  Static<typeof LiveRequest | typeof WallRequest>['type'],
  { of: '/devices/:id/live' | '/devices/live'; reach: Reach }
> = {
  next: { of: '/devices/:id/live', reach: reachesNothing },
  watch: { of: '/devices/live', reach: { projects: 'open', phones: 'wall', apps: 'refused' } },
  leave: { of: '/devices/live', reach: reachesNothing },
  shown: { of: '/devices/live', reach: reachesNothing },
};
