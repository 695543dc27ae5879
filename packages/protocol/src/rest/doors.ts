import type { Scope } from './contract.ts';
import type { Static } from 'typebox';

import type { LiveRequest, WallRequest } from '../phones/live.ts';
import type { Reach } from './reach.ts';

/** A way into the service: what it asks of the token of a caller. */
export interface Door {
  /** The scope that the token must have. */
  readonly scope: Scope;
  readonly reach: Reach;
}

/** The doors that are no endpoints of the API. */
export const otherDoors = {
  /** The WebSocket of hosts, and what they ask over HTTP. */
  host: { scope: 'host', reach: { projects: 'refused', phones: 'refused' } },
  fetch: { scope: 'read', reach: { projects: 'within', phones: 'refused' } },
  push: { scope: 'edit', reach: { projects: 'within', phones: 'refused' } },
  /** Its tools call endpoints of the API with the same token, and each asks again. */
  mcp: { scope: 'read', reach: { projects: 'within', phones: 'calls' } },
} as const satisfies Record<string, Door>;

const reachesNothing: Reach = { projects: 'open', phones: 'none' };

/** Messages of viewers on their WebSockets. Whether the token reaches a phone is asked again for each picture. */
export const viewerMessages: Record<
  Static<typeof LiveRequest | typeof WallRequest>['type'],
  { of: '/devices/:id/live' | '/devices/live'; reach: Reach }
> = {
  next: { of: '/devices/:id/live', reach: reachesNothing },
  watch: { of: '/devices/live', reach: { projects: 'open', phones: 'wall', apps: 'refused' } },
  leave: { of: '/devices/live', reach: reachesNothing },
  shown: { of: '/devices/live', reach: reachesNothing },
};
