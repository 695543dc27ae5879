import type { Context } from '../../http/context.ts';
import { forEachItem } from '../../storage/for-each-item.ts';
import type { DeviceAccess } from '../../fleet/devices/device-access.ts';
import { addGaugeBy, type Metrics } from '../../http/health/metrics.ts';
import type { Jobs } from '../jobs/feature.ts';
import type { LaunchPreparation } from '../../runs/launches/launch-preparation.ts';
import type { Projects } from '../../code/projects/feature.ts';
import { makeScheduledJobs } from './enqueue-turn.ts';
import { TurnMaker } from './turn-maker.ts';
import { createScheduleStore } from './store.ts';
import { addScheduleRoutes } from './routes.ts';

interface ScheduleDependencies {
  jobs: Jobs;
  devices: DeviceAccess;
  projects: Projects;
  preparation: LaunchPreparation;
  metrics: Metrics;
}

/** Lease of schedules whose turns are due. A killed server blocks its schedules for this long. */
const claimMs = 30_000;

/** Serves schedules, which make jobs repeatedly. */
export function serveSchedules(
  context: Context,
  { jobs, devices, projects, preparation, metrics }: ScheduleDependencies,
): void {
  const { app, database, clock, timing, limits } = context;
  const store = createScheduleStore(database);
  const maker = new TurnMaker({ store, jobs, clock, lookEveryMs: timing.sweepMs });
  context.workers.add({
    kind: makeScheduledJobs,
    // The schedules of a user take their turns one after the other.
    places: { all: 4, lane: 1 },
    itemsOfClaim: 10,
    claimMs,
    work: (claim, signal) => forEachItem(claim, signal, (item, own) => maker.make(item, own)),
  });
  addScheduleRoutes(app, {
    store,
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
}
