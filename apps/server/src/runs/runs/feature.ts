import { addBackgroundJob } from '../../storage/background-job.ts';
import type { Context } from '../../http/context.ts';
import type { DeviceAccess } from '../../fleet/devices/device-access.ts';
import type { Hosts } from '../../fleet/hosts/feature.ts';
import type { ProjectPeople } from '../../code/projects/project-access.ts';
import { type ActiveRunStore, createActiveRunStore } from './active-run-store.ts';
import { ActiveRuns } from './active-runs.ts';
import { createLauncherStore, createRunStore, type RunStore } from './store.ts';
import { RunAccess } from './run-access.ts';
import { RunChangeStore } from './run-change-store.ts';
import { RunLifecycle } from './run-lifecycle.ts';
import type { StoredRun } from './stored-run.ts';
import { addRunRoutes } from './routes.ts';
import { RunNotifier } from './run-notifier.ts';

type RunListener = (rows: readonly StoredRun[]) => void;

export interface Runs {
  readonly store: RunStore;
  readonly access: RunAccess;
  /** In-memory active runs of this server's hosts. */
  readonly activeRuns: ActiveRuns;
  readonly activeRunRows: ActiveRunStore;
  readonly lifecycle: RunLifecycle;
  onCreated(listener: RunListener): void;
  onChange(listener: RunListener): void;
  /** Reports the runs that a launch has stored. */
  created: RunListener;
}

interface RunDependencies {
  hosts: Hosts;
  devices: DeviceAccess;
  people: ProjectPeople;
}

/** Opens the runs, the intake of host reports about them, and the notifications about them between servers. */
export async function openRuns(context: Context, { hosts, devices, people }: RunDependencies): Promise<Runs> {
  const { app, cluster, commits, config, clock, database, faults, limits, timing } = context;
  const store = createRunStore(database, commits);
  const activeRuns = new ActiveRuns();
  const activeRunRows = createActiveRunStore(database, commits);
  limits.registerUsage('runs', (userId) => activeRunRows.countOfUser(userId));
  const access = new RunAccess({ store, devices, people });
  await access.load();
  const notifier = new RunNotifier({ bus: cluster.bus, store: activeRunRows, activeRuns, faults });
  app.addHook('onClose', () => notifier.close());
  const created: RunListener[] = [(rows) => rows.forEach((row) => access.note(row))];
  const changed: RunListener[] = [(rows) => notifier.notify(rows)];
  const lifecycle = new RunLifecycle({
    store,
    changes: new RunChangeStore(commits, activeRuns),
    activeRuns,
    activeRunRows,
    clock,
    lostAfterMs: config.lostAfterMs,
    onChange: (rows) => changed.forEach((listener) => listener(rows)),
    flush: (epoch) => hosts.connected.flush(epoch),
    listAway: (forMs) => hosts.sessions.listAway(forMs),
  });
  hosts.gateway.on('hello', (link, { runs }) => lifecycle.reconcile(link, runs));
  hosts.gateway.on('runs', (link, reports) => lifecycle.report(link, reports));
  hosts.gateway.on('closed', (link) => lifecycle.disconnect(link));
  addBackgroundJob(context, {
    name: 'end runs of hosts that do not return',
    everyMs: timing.sweepMs,
    onEachServer: true,
    work: () => lifecycle.sweep(),
  });
  return {
    store,
    access,
    activeRuns,
    activeRunRows,
    lifecycle,
    onCreated: (listener) => created.push(listener),
    onChange: (listener) => changed.push(listener),
    created: (rows) => created.forEach((listener) => listener(rows)),
  };
}

export function serveRuns(
  { app, database }: Context,
  { store, access }: Runs,
  recordsOf: Parameters<typeof addRunRoutes>[1]['recordsOf'],
): void {
  addRunRoutes(app, { store, launchers: createLauncherStore(database), access, recordsOf });
}
