import { setImmediate as nextTurn } from 'node:timers/promises';
import { keptDebugRecords, type RunDetail } from '@phalanx/protocol';
import { addBackgroundJob } from '../../storage/background-job.ts';
import type { Captures } from '../../runs/captures/captures.ts';
import { type CaptureNotes, openCaptures, serveCaptures } from '../../runs/captures/feature.ts';
import type { Context } from '../../http/context.ts';
import type { DeviceAccess } from '../../fleet/devices/device-access.ts';
import type { Hosts } from '../../fleet/hosts/feature.ts';
import type { EventFeed } from '../../runs/events/event-feed.ts';
import type { Metrics } from '../../http/health/metrics.ts';
import { urlOf } from '../../http/requests/addresses.ts';
import type { Runs } from '../../runs/runs/feature.ts';
import { createAutomationAccess, type AutomationAccess } from './access-store.ts';
import { createBrowseStore } from './browse/browse-store.ts';
import { createCaptureNotes, createRecordStore, type RecordStore } from './store.ts';
import { RecordIntake } from './record-intake.ts';
import { RecordChanges, createReadRecord, type ReadRecord } from './record-view.ts';
import { type DriftDependencies, serveDrift } from './drift/feature.ts';
import { type GroupDependencies, serveGroups } from './groups/feature.ts';
import { createKeptScreens, type KeptScreens } from './groups/prints/kept-screens.ts';
import type { Solving } from '../../code/commits/solving.ts';
import { createGroupStore } from './groups/store.ts';
import {
  createRetentionStore,
  type RetentionLimits,
  type RetentionStore,
} from './retention/retention-store.ts';
import { addRecordRoutes } from './routes.ts';
import { createReadSequence, type ReadSequence } from './saved-sequence.ts';
import type { StoredRecord } from './stored-record.ts';
import type { Clock } from '../../kernel/clock.ts';
import { hourMs } from '../../kernel/durations.ts';

interface RecordDependencies {
  hosts: Hosts;
  devices: DeviceAccess;
  runs: Runs;
  feed: EventFeed;
  metrics: Metrics;
}

export interface Records {
  /** Call it after a project is gone. */
  projectDeleted(projectId: string): Promise<void>;
  readonly recordsOfRun: RecordsOfRun;
  readonly captures: Captures;
  readonly keptScreens: KeptScreens;
  readonly readSequence: ReadSequence;
  /** Undefined: there is no such record; null: it is of direct code. */
  findProjectOf(recordId: string): Promise<string | null | undefined>;
  /**
   * Lists those who may review the records of a project, and own it or have accepted it. Only they are told of it
   * unasked, and only their hosts work for it.
   */
  readonly listAcceptedReviewers: (automation: {
    ownerId: string;
    automationId: string;
  }) => Promise<string[]>;
  /** Deletes the records that a user who goes would leave. */
  deleteOwner(userId: string): Promise<void>;
  /** Adds groups, which need projects. */
  serveGroups(projects: GroupDependencies['projects']): Solving;
  /** Adds the figures on versions of apps. */
  serveDrift(listGolden: DriftDependencies['listGolden']): void;
}

/** Out-of-steps records with their captures. */
export async function openRecords(context: Context, dependencies: RecordDependencies): Promise<Records> {
  const { app, config, database, clock, log } = context;
  const { hosts, devices, runs, feed, metrics } = dependencies;
  const figures = metrics.records;
  const store = createRecordStore(database);
  const noteStore = createCaptureNotes(database);
  const access = createAutomationAccess(database);
  const { captures, urls } = await openCaptures(context, () => config.fileUrl ?? urlOf(app.server.address()));
  const read = createReadRecord({ store, access, captureUrl: (key) => urls.urlOf(key) });
  const onDeleted = (count: number): void => figures.deleted.inc(count);
  const changes = new RecordChanges({ access, read, log, feed, figures, onDeleted });
  const notes = {
    ...noteStore,
    ...captureNotes({ store, notes: noteStore, runs: runs.store, changes }),
  };
  await serveCaptures(context, { captures, urls, notes, figures });
  const limits = { debugPerTag: keptDebugRecords, others: config.recordsKept };
  const retention = addRetention(context, limits, onDeleted);
  const { fleet } = devices;
  const intake = new RecordIntake({
    store,
    access,
    fleet,
    clock,
    log,
    limits,
    changes,
    findRun: runs.store.find,
  });
  hosts.gateway.on('record', (link, report) => intake.take(link, report));
  addRecordRoutes(app, {
    store,
    access,
    changes,
    read,
    clock,
    limits,
    browser: createBrowseStore(database),
    deleteOne: createRetentionStore(database).deleteOne,
    turns: context.limits.turns.records,
  });
  const groups = createGroupStore(database);
  const captureUrl: GroupDependencies['captureUrl'] = (key) => urls.urlOf(key);
  return {
    projectDeleted: async (projectId) => {
      await retention.deleteProject(projectId);
      await groups.deleteOf('project_id', projectId);
    },
    recordsOfRun: createRecordsOfRun({ store, access, read }),
    listAcceptedReviewers: (automation) => access.listAcceptedReviewers(automation),
    captures,
    keptScreens: createKeptScreens(database),
    readSequence: createReadSequence(store, captures),
    findProjectOf: async (recordId) => (await store.find(recordId))?.project_id,
    deleteOwner: async (userId) => {
      await retention.deleteOwner(userId);
      await groups.deleteOf('owner_id', userId);
    },
    serveGroups: (projects) =>
      serveGroups(context, { store, access, captures, captureUrl, changes, feed, projects }),
    serveDrift: (listGolden) => serveDrift(context, { access, listGolden }),
  };
}

interface CaptureNoting {
  store: RecordStore;
  notes: ReturnType<typeof createCaptureNotes>;
  runs: Pick<Runs['store'], 'find' | 'findOfHost'>;
  changes: RecordChanges;
}

const captureNotes = ({ store, notes, runs, changes }: CaptureNoting): CaptureNotes => ({
  async expectationOf(caller, key) {
    const record = await store.find(key.recordId);
    if (record?.user_id !== caller.userId) return 'unknown';
    // A record may be kept for longer than its run.
    const isOthers =
      (await runs.findOfHost(record.run_id, caller)) === undefined &&
      (await runs.find(record.run_id)) !== undefined;
    if (isOthers) return 'unknown';
    const state = (await notes.findScreen(key.recordId, key.screenId))?.[key.kind] ?? 'none';
    return state === 'none' ? 'unknown' : state;
  },
  async noteStored({ recordId, screenId, kind }, sizeBytes) {
    const record = await notes.captureStored(recordId, screenId, { kind, sizeBytes });
    if (record === undefined) return false;
    changes.changed(record);
    return true;
  },
});

function addRetention(
  context: Context,
  limits: { debugPerTag: number; others: number },
  onDeleted: (count: number) => void,
): RecordRetention {
  const { clock, database } = context;
  const retention = new RecordRetention({ store: createRetentionStore(database), clock, limits, onDeleted });
  addBackgroundJob(context, {
    name: 'delete old records',
    everyMs: hourMs,
    atStart: true,
    work: () => retention.sweep(),
  });
  return retention;
}

/** Finds the records and the last screen that a run has left, for a user. */
type RecordsOfRun = (run: {
  id: string;
  user_id: string;
}) => Promise<Pick<RunDetail, 'records' | 'last_screen'>>;

interface Options {
  store: RecordStore;
  access: AutomationAccess;
  read: ReadRecord;
}

const maxRecords = 100;
const nothing = { records: [], last_screen: null };

/** Gives nothing to a user who may not review the project's records. */
function createRecordsOfRun({ store, access, read }: Options): RecordsOfRun {
  return async ({ id, user_id: userId }) => {
    const records = await store.listOfRun(id, maxRecords);
    const [newest] = records;
    if (newest === undefined) return nothing;
    const { owner_id: ownerId, automation_id: automationId } = newest;
    const role = await access.findRole(userId, { ownerId, automationId });
    if (role !== 'owner' && role !== 'shared_editor') return nothing;
    const screen = (await read(newest)).screens.at(-1);
    return {
      records: records.map((record) => ({ record_id: record.id, type: record.type })),
      last_screen: screen === undefined ? null : { record_id: newest.id, screen },
    };
  };
}

interface RetentionOptions {
  store: RetentionStore;
  clock: Clock;
  limits: RetentionLimits;
  /** Told how many records were deleted; their captures are still there. */
  onDeleted: (count: number) => void;
}

const recordsPerStep = 100;

/** Deletes records whose time has come, beyond what each new one pushes out at once. */
class RecordRetention {
  readonly #options: RetentionOptions;

  constructor(options: RetentionOptions) {
    this.#options = options;
  }

  /** Applies the limits to saved records that have lost their protection, and deletes records of deleted projects. */
  async sweep(): Promise<void> {
    await this.#deleteLost();
    for (let after: string | undefined = ''; after !== undefined;) {
      after = await this.#step(after);
      // The database answers without a turn of the event loop.
      await nextTurn();
    }
  }

  /** Deletes all records of a project. Call it after the project is gone. */
  deleteProject(projectId: string): Promise<void> {
    return this.#deleteAll('project_id', projectId);
  }

  /** Deletes what a user who goes has left: records of direct code. */
  deleteOwner(userId: string): Promise<void> {
    return this.#deleteAll('owner_id', userId);
  }

  async #deleteAll(of: 'project_id' | 'owner_id', id: string): Promise<void> {
    for (;;) {
      const count = await this.#options.store.deleteSome(of, id, recordsPerStep);
      if (count === undefined) return;
      this.#options.onDeleted(count);
      await nextTurn();
    }
  }

  /** Deletes records of no project. A crash leaves them, or a record that came while its project was deleted. */
  async #deleteLost(): Promise<void> {
    const projectId = await this.#options.store.findLostProject();
    if (projectId === undefined) return;
    await this.deleteProject(projectId);
    await this.#deleteLost();
  }

  /** Trims the groups of some saved records. Returns the last one's ID, undefined after the last. */
  async #step(after: string): Promise<string | undefined> {
    const { store, clock, limits } = this.#options;
    const saved = await store.listSaved(after, recordsPerStep);
    const groups = new Map(saved.map((record) => [groupKey(record), record]));
    for (const group of groups.values()) {
      const deleted = await store.trim(group, { limits, nowMs: clock.now() });
      if (deleted > 0) this.#options.onDeleted(deleted);
    }
    return saved.length < recordsPerStep ? undefined : saved.at(-1)?.id;
  }
}

const groupKey = (record: StoredRecord): string =>
  `${record.owner_id}/${record.automation_id}/${record.retention_group}`;
