import type { Job, JobBody } from '@phalanx/protocol';
import { addBackgroundJob } from '../../storage/background-job.ts';
import type { Context } from '../../http/context.ts';
import type { DeviceAccess } from '../../fleet/devices/device-access.ts';
import { addGaugeBy, type Metrics } from '../../http/health/metrics.ts';
import type { Hosts } from '../../fleet/hosts/feature.ts';
import type { LaunchService } from '../../runs/launches/feature.ts';
import type { Projects } from '../../code/projects/feature.ts';
import type { Runs } from '../../runs/runs/feature.ts';
import { createJob, type JobMaker, type JobOrigin } from './create-job.ts';
import { JobRunner } from './job-runner.ts';
import { addRunTaskCalls } from './run-task-calls.ts';
import { createRunTaskStore } from './run-task-store.ts';
import { createJobStore } from './store.ts';
import { type FindUser, TaskStarter } from './task-starter.ts';
import { createTaskStore } from './task-store.ts';
import { jobView } from './job-view.ts';
import type { SecretGrants } from '../../code/secrets/secret-grants.ts';
import { addJobRoutes } from './routes.ts';
import { hourMs, dayMs } from '@phalanx/timing/durations';

interface JobDependencies {
  hosts: Hosts;
  devices: DeviceAccess;
  runs: Runs;
  projects: Projects;
  launching: LaunchService;
  grants: SecretGrants;
  metrics: Metrics;
}

/** Makes jobs without a request, for example for schedules. */
export interface Jobs {
  make(body: JobBody, origin: JobOrigin): Promise<{ id: string; view: () => Promise<Job> }>;
  /** Whether the schedule has an unfinished job. */
  hasOpen(scheduleId: string): Promise<boolean>;
  /** Returns a principal with the current rights of the maker. Throws `forbidden`. */
  principalOf: TaskStarter['principalOf'];
}

/** Maximum number of waiting tasks per user. */
const maxTasks = 200_000;

/** Serves jobs: runs that wait for phones. */
export async function serveJobs(
  context: Context,
  { hosts, devices, runs, projects, launching, grants, metrics }: JobDependencies,
): Promise<Jobs> {
  const { app, access, database, commits, clock, faults, cluster, config, timing, limits } = context;
  const { activeRuns, activeRunRows } = runs;
  const { getLaunchable } = projects;
  const store = createJobStore(database);
  const tasks = createTaskStore(database, commits);
  const findUser: FindUser = (id) => access.store.findUser(id);
  const starter = new TaskStarter({ findUser, launches: launching.launches, tasks, clock, faults });
  const runner = new JobRunner({
    jobs: store,
    tasks,
    starter,
    devices,
    grants,
    activeRuns,
    clock,
    faults,
    lookEveryMs: timing.sweepMs,
  });
  runs.onChange((rows) => runner.runsChanged(rows));
  cluster.invalidations.on('jobs', () => runner.catchUp());
  app.addHook('onClose', async () => {
    await runner.close();
    await starter.close();
  });
  const maker: JobMaker = {
    store,
    labels: devices.labels,
    preparation: launching.preparation,
    getLaunchable,
    clock,
    maxTasks,
    limits,
  };
  const sources = { store, access: devices, activeRunRows, grants };
  addJobRoutes(app, {
    ...sources,
    maker,
    runner,
    projects: projects.access,
    stop: async (runIds) => {
      for (const epoch of await activeRunRows.requestStop(runIds)) hosts.connected.flush(epoch);
    },
  });
  const runTasks = createRunTaskStore(database, tasks);
  addRunTaskCalls(app, {
    store: runTasks,
    tasks,
    runner,
    findRunOfHost: runs.store.findOfHost,
    clock,
    limits,
    maxTasks,
  });
  addGaugeBy(metrics, {
    name: 'phalanx_tasks',
    help: 'Job tasks that wait or run, for all servers',
    label: 'status',
    read: () => store.countTasks(),
  });
  addBackgroundJob(context, {
    name: 'delete old jobs',
    everyMs: hourMs,
    atStart: true,
    work: () => store.deleteEndedBefore(clock.now() - config.historyDays * dayMs),
  });
  await runner.load();
  return {
    make: async (body, origin) => {
      const job = await createJob(maker, body, origin);
      await runner.noteMade(job);
      return { id: job.id, view: () => jobView(sources, job) };
    },
    hasOpen: (scheduleId) => store.hasOpen(scheduleId),
    principalOf: (made) => starter.principalOf(made),
  };
}
