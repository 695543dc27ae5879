import { eventRoutes } from '@phalanx/protocol';
import type { FastifyInstance } from 'fastify';

import { ApiError } from '../http/api-error.ts';
import { addRawRoute } from '../http/route.ts';
import type { EventBus, FeedEvent } from './event-feed.ts';
import { EventStream } from './event-stream.ts';

const streamsPerToken = 100;

interface EventFilter {
  userId: string;
  deviceId: string | undefined;
  automationId: string | undefined;
  projectIds: ReadonlySet<string> | null;
  types: readonly string[] | undefined;
}

export interface OpenStreams {
  endOfToken(tokenId: string): void;
  /** Ends the streams whose token has ended by now, epoch ms. */
  endExpired(nowMs: number): void;
  endAll(): void;
}

/** `GET /events` */
export function addEventRoutes(app: FastifyInstance, bus: EventBus<FeedEvent>): OpenStreams {
  const open = new Map<string, Set<EventStream>>();

  addRawRoute(app, eventRoutes.stream, async ({ principal, query, raw }, reply) => {
    if (raw.method === 'HEAD') return reply.type('text/event-stream; charset=utf-8').send('');
    const streams = open.get(principal.tokenId) ?? new Set();
    if (streams.size >= streamsPerToken)
      throw ApiError.of('too_many_streams', { limit: streamsPerToken }, { retryAfterS: 10 });
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
    open.set(principal.tokenId, streams.add(stream));
    const unsubscribe = bus.subscribe((event) => {
      if (isWanted(event, filter)) stream.send(event);
    });
    reply.raw.on('close', () => {
      unsubscribe();
      streams.delete(stream);
      if (streams.size === 0) open.delete(principal.tokenId);
    });
    return reply;
  });

  return {
    endOfToken: (tokenId) => open.get(tokenId)?.forEach((stream) => stream.end()),
    endExpired: (nowMs) =>
      open.forEach((streams) =>
        streams.forEach((stream) => {
          if (stream.expiresAt <= nowMs) stream.end();
        }),
      ),
    endAll: () => open.forEach((streams) => streams.forEach((stream) => stream.end())),
  };
}

function isWanted(event: FeedEvent, filter: EventFilter): boolean {
  if (event.userId !== filter.userId) return false;
  if (filter.types?.includes(event.type) === false) return false;
  if (filter.deviceId !== undefined && event.deviceId !== filter.deviceId) return false;
  if (event.automationId === null) return true;
  if (filter.projectIds !== null && !filter.projectIds.has(event.automationId)) return false;
  return filter.automationId === undefined || event.automationId === filter.automationId;
}
