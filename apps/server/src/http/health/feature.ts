import { freeBytesOf } from '@phalanx/settings';
import type { Context } from '../context.ts';
import { describeFaults } from '../../kernel/faults/fault-monitor.ts';
import { createMetrics, type Figures, measureRequests, type Metrics } from './metrics.ts';
import { addHealthRoutes } from './routes.ts';

/** Figures of the features that depend on this one. */
interface FleetFigures extends Pick<Figures, 'hosts' | 'activeRuns' | 'devices' | 'warnings'> {
  /** Whether hosts are disconnected because the server is stopping. */
  isClosed: () => boolean;
}

/** Opens the probes, and the metrics to which other features add. */
export function openHealth(context: Context, { isClosed, ...figures }: FleetFigures): Metrics {
  const { app, cluster, connections, dataDir, faults, limits, node } = context;
  const metrics = createMetrics({
    ...figures,
    faults: () => faults.active,
    limits,
    connections: () => connections.open,
    // A failing disk must not prevent the other metrics.
    freeBytes: () => freeBytesOf(dataDir).catch(() => Number.NaN),
    node: node.name,
    isBusConnected: () => cluster.bus.isConnected,
    invalidationsAgeMs: () => cluster.invalidations.ageMs,
  });
  measureRequests(app, metrics);
  addHealthRoutes(app, { metrics, obstacle: watchObstacles(context, isClosed) });
  return metrics;
}

/** Watches for obstacles to readiness. An obstacle is described as the end of "The service is …". */
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
