import { addBackgroundJob } from '../../storage/background-job.ts';
import type { Context } from '../../http/context.ts';
import type { DeviceAccess } from '../../fleet/devices/device-access.ts';
import { OpenStreams } from '../../http/requests/sockets/open-streams.ts';
import type { Logs } from '../logs/feature.ts';
import type { Runs } from '../runs/feature.ts';
import { EventBus } from './event-bus.ts';
import { EventFeed } from './event-feed.ts';
import { addEventRoutes } from './routes.ts';

export interface Events {
  readonly feed: EventFeed;
  /** Event streams and live views of callers. */
  readonly streams: OpenStreams;
}

/** Opens the event stream, across servers. */
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
