import { freeBytesOf } from '@phalanx/settings';
import type { Context } from '../context.ts';
import { describeFaults } from '../../kernel/faults/fault-monitor.ts';
import { createMetrics, type Figures, measureRequests, type Metrics } from './metrics.ts';
import { addHealthRoutes } from './routes.ts';

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
    // A disk that fails must not take the other metrics with it.
    freeBytes: () => freeBytesOf(dataDir).catch(() => Number.NaN),
    node: node.name,
    isBusConnected: () => cluster.bus.isConnected,
    invalidationsAgeMs: () => cluster.invalidations.ageMs,
  });
  measureRequests(app, metrics);
  addHealthRoutes(app, { metrics, obstacle: watchObstacles(context, isClosed) });
  return metrics;
}

/** Watches for obstacles: each keeps the service from taking requests, and is the end of "The service is …". */
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
