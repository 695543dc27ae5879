import type { Context } from '../../http/context.ts';
import type { DeviceAccess } from '../../fleet/devices/device-access.ts';
import { addGaugeBy, type Metrics } from '../../http/health/metrics.ts';
import type { Jobs } from '../jobs/feature.ts';
import type { LaunchPreparation } from '../../runs/launches/launch-preparation.ts';
import type { Projects } from '../../code/projects/feature.ts';
import { ScheduleRunner } from './schedule-runner.ts';
import { createScheduleStore } from './store.ts';
import { addScheduleRoutes } from './routes.ts';

interface ScheduleDependencies {
  jobs: Jobs;
  devices: DeviceAccess;
  projects: Projects;
  preparation: LaunchPreparation;
  metrics: Metrics;
}

/** Jobs that are made again and again. */
export function serveSchedules(
  context: Context,
  { jobs, devices, projects, preparation, metrics }: ScheduleDependencies,
): void {
  const { app, database, clock, faults, cluster, timing, limits } = context;
  const store = createScheduleStore(database);
  const runner = new ScheduleRunner({ store, jobs, clock, faults, lookEveryMs: timing.sweepMs });
  // Nobody waits for the look: it makes jobs, of which it tells the other servers itself.
  cluster.invalidations.on('schedules', () => {
    void runner.look().catch((error: unknown) => faults.report(error, 'schedules could not be read'));
  });
  app.addHook('onClose', () => runner.close());
  addScheduleRoutes(app, {
    store,
    runner,
    jobs,
    devices,
    projects: projects.access,
    preparation,
    clock,
    limits,
  });
  addGaugeBy(metrics, {
    name: 'phalanx_schedules',
    help: 'Schedules by state, for all servers',
    label: 'state',
    read: () => store.countByState(),
  });
  app.addHook('onReady', () => runner.look());
}
