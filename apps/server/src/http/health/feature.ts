import { statfs } from 'node:fs/promises';
import { healthRoutes } from '@phalanx/protocol';
import type { FastifyInstance } from 'fastify';
import type { Context } from '../context.ts';
import { describeFaults } from '../../kernel/faults/fault-monitor.ts';
import { createMetrics, type Figures, measureRequests, type Metrics } from './metrics.ts';
import { ApiError } from '../../kernel/errors/api-error.ts';
import { addRawRoute, addRoute } from '../requests/route.ts';

/** Figures of features, which stand on this one. */
interface FleetFigures extends Pick<Figures, 'hosts' | 'activeRuns' | 'devices' | 'warnings'> {
  /** Whether hosts are sent away, because the server ends. */
  isClosed: () => boolean;
}

/** Probes, and the metrics that other features count in. */
export function openHealth(context: Context, { isClosed, ...figures }: FleetFigures): Metrics {
  const { app, cluster, connections, dataDir, faults, limits, node } = context;
  const metrics = createMetrics({
    ...figures,
    faults: () => faults.active,
    limits,
    connections: () => connections.open,
    freeBytes: () => freeBytesOf(dataDir),
    node: node.name,
    isBusConnected: () => cluster.bus.isConnected,
    invalidationsAgeMs: () => cluster.invalidations.ageMs,
  });
  measureRequests(app, metrics);
  addHealthRoutes(app, { metrics, obstacle: watchObstacles(context, isClosed) });
  return metrics;
}

async function freeBytesOf(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}

/** What keeps the service from taking requests, as the end of "The service is …". */
function watchObstacles(
  { app, faults }: Context,
  isClosed: () => boolean,
): () => Promise<string | undefined> {
  let isStopping = false;
  app.addHook('preClose', async () => {
    isStopping = true;
  });
  return async () => {
    if (isStopping || isClosed()) return 'stopping';
    await faults.check();
    return describeFaults(faults.active);
  };
}

interface HealthRoutesOptions {
  metrics: Metrics;
  /** What keeps the service from taking requests, as the end of "The service is …"; undefined when it can. */
  obstacle: () => Promise<string | undefined>;
}

/** `GET /healthz` · `GET /readyz` · `GET /metrics` */
function addHealthRoutes(app: FastifyInstance, { metrics, obstacle }: HealthRoutesOptions): void {
  addRoute(app, healthRoutes.alive, async () => ({ success: true }));

  addRoute(app, healthRoutes.ready, async () => {
    const reason = await obstacle();
    if (reason !== undefined) throw ApiError.of('not_ready', { reason });
    return { success: true };
  });

  addRawRoute(app, healthRoutes.metrics, async (_request, reply) => {
    return reply.type(metrics.registry.contentType).send(await metrics.registry.metrics());
  });
}
