import { eventRoutes } from '@phalanx/protocol';
import type { FastifyInstance } from 'fastify';
import { addBackgroundJob } from '../../storage/background-job.ts';
import type { Context } from '../../http/context.ts';
import type { DeviceAccess } from '../../fleet/devices/device-access.ts';
import { OpenStreams } from '../../http/requests/sockets/open-streams.ts';
import type { Logs } from '../logs/feature.ts';
import type { Runs } from '../runs/feature.ts';
import { EventBus, type FeedEvent } from './event-bus.ts';
import { EventFeed } from './event-feed.ts';
import { addRawRoute } from '../../http/requests/route.ts';
import { EventStream, UserFeeds } from './user-feed.ts';

export interface Events {
  readonly feed: EventFeed;
  /** Event streams and live views of callers. */
  readonly streams: OpenStreams;
}

/** The event stream, across servers. */
export function openEvents(
  context: Context,
  { devices, runs, logs }: { devices: DeviceAccess; runs: Runs; logs: Logs },
): Events {
  const { app, authenticator, clock, cluster, node, faults, log, timing } = context;
  const bus = new EventBus({ bus: cluster.bus, peers: cluster.peers, nodeId: node.id, faults });
  app.addHook('onClose', () => bus.close());
  const { activeRunRows, access: runAccess } = runs;
  const feed = new EventFeed({ bus, devices, activeRunRows, runAccess, log });
  runs.onCreated((rows) => feed.runsChanged(rows));
  runs.onChange((rows) => feed.runsChanged(rows));
  logs.onStored((batch) => feed.logsStored(batch));
  const streams = new OpenStreams();
  authenticator.onForget((tokenId) => streams.endOfToken(tokenId));
  authenticator.onRecheck(() => streams.tokenIds());
  app.addHook('preClose', async () => streams.endAll());
  addEventRoutes(app, bus, streams);
  addBackgroundJob(context, {
    name: 'end streams whose tokens have expired',
    everyMs: timing.sweepMs,
    onEachServer: true,
    work: () => streams.endExpired(clock.now()),
  });
  return { feed, streams };
}

interface EventFilter {
  deviceId: string | undefined;
  automationId: string | undefined;
  projectIds: ReadonlySet<string> | null;
  types: readonly string[] | undefined;
}

const fellBehind = 'an event stream did not take its events and was cut off';

/** `GET /events` */
function addEventRoutes(app: FastifyInstance, bus: EventBus, streams: OpenStreams): void {
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
    // It is told now and then that nothing has happened.
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
      // The reader comes again, and reads on from the last entry that it has.
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
  if (filter.projectIds !== null && !filter.projectIds.has(event.automationId)) return false;
  return filter.automationId === undefined || event.automationId === filter.automationId;
}
