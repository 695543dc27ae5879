import { reachesProject } from '../../http/requests/policy.ts';
import { eventRoutes } from '@phalanx/protocol';
import type { FastifyInstance } from 'fastify';
import type { OpenStreams } from '../../http/requests/sockets/open-streams.ts';
import type { EventBus, FeedEvent } from './event-bus.ts';
import { addRawRoute } from '../../http/requests/route.ts';
import { EventStream } from './event-stream.ts';
import { UserFeeds } from './user-feeds.ts';

interface EventFilter {
  deviceId: string | undefined;
  automationId: string | undefined;
  projectIds: ReadonlySet<string> | null;
  types: readonly string[] | undefined;
}

const fellBehind = 'an event stream was read too slowly and was closed';

/** `GET /events` */
export function addEventRoutes(app: FastifyInstance, bus: EventBus, streams: OpenStreams): void {
  const feeds = new UserFeeds(bus);
  addRawRoute(app, eventRoutes.stream, async ({ principal, query, raw }, reply) => {
    if (raw.method === 'HEAD') return reply.type('text/event-stream; charset=utf-8').send('');
    streams.requirePlace(principal);
    const filter: EventFilter = {
      deviceId: query.device_id,
      automationId: query.automation_id,
      projectIds: principal.projectIds,
      types: query.types?.split(','),
    };
    reply.hijack();
    // The socket needs no timeout: a keep-alive is written at intervals while nothing happens.
    raw.raw.socket.setTimeout(0);
    const stream = new EventStream({
      response: reply.raw,
      expiresAt: principal.expiresAt ?? Infinity,
      isWanted: (event) => isWanted(event, filter),
      onFellBehind: () => raw.log.warn({ reqId: raw.id, userId: principal.userId }, fellBehind),
    });
    const leave = await feeds.add(principal.userId, stream);
    stream.begin(raw.id);
    const ends = [
      leave,
      streams.add(principal, stream),
      // The reader reconnects, and continues after the last entry that it has.
      bus.onGap(() => stream.end()),
    ];
    const endAll = (): void => {
      for (const end of ends) end();
    };
    reply.raw.on('close', endAll);
    if (reply.raw.destroyed) endAll();
    return reply;
  });
}

function isWanted(event: FeedEvent, filter: EventFilter): boolean {
  if (filter.types?.includes(event.type) === false) return false;
  if (filter.deviceId !== undefined && event.deviceId !== filter.deviceId) return false;
  if (event.automationId === null) return true;
  if (!reachesProject(filter, event.automationId)) return false;
  return filter.automationId === undefined || event.automationId === filter.automationId;
}
