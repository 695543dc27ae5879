import { eventRoutes } from '@phalanx/protocol';
import type { FastifyInstance } from 'fastify';

import type { OpenStreams } from '../http/open-streams.ts';
import { addRawRoute } from '../http/route.ts';
import type { EventBus, FeedEvent } from './event-feed.ts';
import { EventStream } from './event-stream.ts';

interface EventFilter {
  userId: string;
  deviceId: string | undefined;
  automationId: string | undefined;
  projectIds: ReadonlySet<string> | null;
  types: readonly string[] | undefined;
}

/** `GET /events` */
export function addEventRoutes(app: FastifyInstance, bus: EventBus<FeedEvent>, streams: OpenStreams): void {
  addRawRoute(app, eventRoutes.stream, async ({ principal, query, raw }, reply) => {
    if (raw.method === 'HEAD') return reply.type('text/event-stream; charset=utf-8').send('');
    streams.requirePlace(principal.tokenId);
    const filter: EventFilter = {
      userId: principal.userId,
      deviceId: query.device_id,
      automationId: query.automation_id,
      projectIds: principal.projectIds,
      types: query.types?.split(','),
    };
    reply.hijack();
    // It is told now and then that nothing has happened.
    raw.raw.socket.setTimeout(0);
    const stream = new EventStream(reply.raw, raw.id, principal.expiresAt ?? Infinity);
    const forget = streams.add(principal.tokenId, stream);
    const unsubscribe = bus.subscribe((event) => {
      if (isWanted(event, filter)) stream.send(event);
    });
    reply.raw.on('close', () => {
      unsubscribe();
      forget();
    });
    return reply;
  });
}

function isWanted(event: FeedEvent, filter: EventFilter): boolean {
  if (event.userId !== filter.userId) return false;
  if (filter.types?.includes(event.type) === false) return false;
  if (filter.deviceId !== undefined && event.deviceId !== filter.deviceId) return false;
  if (event.automationId === null) return true;
  if (filter.projectIds !== null && !filter.projectIds.has(event.automationId)) return false;
  return filter.automationId === undefined || event.automationId === filter.automationId;
}
