import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { type RunDetail, type RunLauncher, runRoutes, type TimeInput } from '@phalanx/protocol';
import type { FastifyInstance } from 'fastify';
import { addBackgroundJob } from '../../storage/background-job.ts';
import { periodically } from '../../kernel/periodically.ts';
import type { Context } from '../../http/context.ts';
import type { DeviceAccess } from '../../fleet/devices/device-access.ts';
import type { Hosts } from '../../fleet/hosts/feature.ts';
import type { ProjectPeople } from '../../code/projects/project-access.ts';
import type { ActiveRunRows } from './active-run-rows.ts';
import { createActiveRunStore } from './active-run-store.ts';
import { ActiveRuns } from './active-runs.ts';
import { createLauncherStore, createRunStore, type RunStore, type LauncherStore } from './store.ts';
import { RunAccess } from './run-access.ts';
import { RunChangeStore } from './run-change-store.ts';
import { RunLifecycle } from './run-lifecycle.ts';
import { type StoredRun, detailView, runView } from './stored-run.ts';
import { type Bus, subscribeTo } from '../../storage/bus/bus.ts';
import type { FaultMonitor } from '../../kernel/faults/fault-monitor.ts';
import { Batcher } from '../../kernel/batcher.ts';
import { pageLimit, toPage } from '../../http/requests/replies/list-replies.ts';
import { addRoute } from '../../http/requests/route.ts';
import { parseTime } from '../../http/requests/validation.ts';

type RunListener = (rows: readonly StoredRun[]) => void;

export interface Runs {
  readonly store: RunStore;
  readonly access: RunAccess;
  /** Those of this server's hosts. */
  readonly activeRuns: ActiveRuns;
  readonly activeRunRows: ActiveRunRows;
  readonly lifecycle: RunLifecycle;
  onCreated(listener: RunListener): void;
  onChange(listener: RunListener): void;
  /** To be told of the runs that a launch begins. */
  created: RunListener;
}

interface RunDependencies {
  hosts: Hosts;
  devices: DeviceAccess;
  people: ProjectPeople;
}

/** Runs, what hosts report of them, and what servers tell each other of them. */
export async function openRuns(context: Context, { hosts, devices, people }: RunDependencies): Promise<Runs> {
  const { app, cluster, commits, config, clock, database, faults, limits, timing } = context;
  const store = createRunStore(database, commits);
  const activeRuns = new ActiveRuns();
  const activeRunRows = createActiveRunStore(database, commits);
  limits.show('runs', (userId) => activeRunRows.countOfUser(userId));
  const access = new RunAccess({ store, devices, people });
  await access.load();
  const news = new RunNews({ bus: cluster.bus, store: activeRunRows, activeRuns, faults });
  app.addHook('onClose', () => news.close());
  const created: RunListener[] = [(rows) => rows.forEach((row) => access.note(row))];
  const changed: RunListener[] = [(rows) => news.tell(rows)];
  const lifecycle = new RunLifecycle({
    ...{ store, changes: new RunChangeStore(commits, activeRuns), activeRuns, activeRunRows, clock },
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
    ...{ store, access, activeRuns, activeRunRows, lifecycle },
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

const RunIds = Compile(Type.Array(Type.String()));
const subject = 'runs';
/** As long as a message that was missed delays a caller. */
const lookEveryMs = 1000;

interface Options {
  bus: Bus;
  store: Pick<ActiveRunRows, 'listByIds'>;
  activeRuns: ActiveRuns;
  faults: FaultMonitor;
}

/** Tells the callers who wait at this server what has become of runs whose hosts are at another one. */
class RunNews {
  readonly #options: Options;
  readonly #ends: (() => unknown)[];

  constructor(options: Options) {
    this.#options = options;
    const { bus, faults, activeRuns } = options;
    const news = new Batcher<string>({
      work: (runIds) => this.#read(runIds),
      ...{ faults, says: 'what has become of runs could not be read' },
    });
    this.#ends = [
      subscribeTo(bus, subject, RunIds, (ids) => news.add(ids.filter((id) => activeRuns.isAwaited(id)))),
      periodically(faults, lookEveryMs, () => news.add(activeRuns.awaited())),
      () => news.end(),
    ];
  }

  /** To the other servers. */
  tell(rows: readonly StoredRun[]): void {
    this.#options.bus.publish(subject, JSON.stringify(rows.map(({ id }) => id)));
  }

  async close(): Promise<void> {
    for (const end of this.#ends) await end();
  }

  async #read(runIds: readonly string[]): Promise<void> {
    const { store, activeRuns } = this.#options;
    for (const row of await store.listByIds(runIds)) activeRuns.notify(row);
  }
}

interface RunRoutesOptions {
  store: RunStore;
  launchers: LauncherStore;
  access: RunAccess;
  /** The records that a run has left, as this user may see them. */
  recordsOf: (run: Pick<StoredRun, 'id' | 'user_id'>) => Promise<Pick<RunDetail, 'records' | 'last_screen'>>;
}

/** `GET /runs` · `GET /runs/:id` · `GET /runs/:id/code` */
function addRunRoutes(app: FastifyInstance, { store, launchers, access, recordsOf }: RunRoutesOptions): void {
  addRoute(app, runRoutes.list, async ({ principal, query }) => {
    const limit = pageLimit(query);
    const { userId } = principal;
    const filter = {
      userId,
      otherDeviceIds:
        query.device_id === undefined
          ? await access.listOtherDevicesForWork(userId)
          : await access.listNamedDevice(userId, query.device_id),
      automationIds: principal.projectIds,
      deviceId: query.device_id,
      automationId: query.automation_id,
      launchId: query.launch_id,
      launch: query.launch?.toLowerCase(),
      status: query.status,
      search: query.search,
      createdAfter: timeOf(query.created_after, 'Query parameter created_after'),
      createdBefore: timeOf(query.created_before, 'Query parameter created_before'),
      cursor: query.cursor?.toLowerCase(),
      limit: limit + 1,
    };
    const [{ runs, searchedTo }, total] = await Promise.all([
      store.list(filter),
      query.total === 'true' ? store.count(filter) : null,
    ]);
    const { items, next_cursor } = toPage(runs, limit, ({ id }) => id);
    const by = await launchers.list(items.map(({ id }) => id));
    const listed = items.map((row) => ({ ...runView(row), launched_by: by.get(row.id) ?? unknown(row) }));
    return { success: true, runs: listed, total, next_cursor: next_cursor ?? searchedTo };
  });

  addRoute(app, runRoutes.get, async ({ principal, params }) => {
    const row = await access.getReadable(
      await store.findDetail(params.id.toLowerCase()),
      principal,
      params.id,
    );
    const left = await recordsOf({ id: row.id, user_id: principal.userId });
    const by = (await launchers.list([row.id])).get(row.id) ?? unknown(row);
    return { success: true, run: { ...detailView(row, by), ...left } };
  });

  addRoute(app, runRoutes.code, async ({ principal, params }) => {
    const row = await access.getReadable(await store.find(params.id.toLowerCase()), principal, params.id);
    return { success: true, code: await store.findCode(row.id) };
  });
}

/** Of a run that was deleted meanwhile. */
const unknown = ({ user_id }: StoredRun): RunLauncher => ({
  ...{ user_id, user_name: null, token_name: null, job: null },
});

const timeOf = (input: TimeInput | undefined, field: string): number | undefined =>
  input === undefined ? undefined : parseTime(input, field);
