import type { Context } from '../context.ts';
import type { DeviceAccess } from '../devices/device-access.ts';
import { addGaugeBy, type Metrics } from '../health/metrics.ts';
import type { Jobs } from '../jobs/feature.ts';
import type { ProjectLaunches } from '../launches/project-launches.ts';
import type { Projects } from '../projects/feature.ts';
import { addScheduleRoutes } from './routes.ts';
import { ScheduleRunner } from './schedule-runner.ts';
import { createScheduleStore } from './store.ts';

interface ScheduleDependencies {
  jobs: Jobs;
  devices: DeviceAccess;
  projects: Projects;
  launches: ProjectLaunches;
  metrics: Metrics;
}

/** Jobs that are made again and again. */
export function serveSchedules(
  context: Context,
  { jobs, devices, projects, launches, metrics }: ScheduleDependencies,
): void {
  const { app, database, clock, faults, cluster } = context;
  const store = createScheduleStore(database);
  const runner = new ScheduleRunner({ store, jobs, clock, faults });
  cluster.invalidations.on('schedules', () => runner.look());
  app.addHook('onClose', () => runner.close());
  addScheduleRoutes(app, { store, runner, devices, projects: projects.access, launches, clock });
  addGaugeBy(metrics, {
    ...{ name: 'phalanx_schedules', help: 'Schedules by state, of all servers', label: 'state' },
    read: () => store.countByState(),
  });
  app.addHook('onReady', () => runner.look());
}
