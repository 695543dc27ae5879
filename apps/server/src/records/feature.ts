import { keptDebugRecords, type RunDetail } from '@phalanx/protocol';

import { addBackgroundJob } from '../background-job.ts';
import type { Captures } from '../captures/captures.ts';
import { type CaptureNotes, openCaptures, serveCaptures } from '../captures/feature.ts';
import type { Context } from '../context.ts';
import type { DeviceAccess } from '../devices/device-access.ts';
import type { EventFeed } from '../events/event-feed.ts';
import type { Metrics } from '../health/metrics.ts';
import { urlOf } from '../http/addresses/listen-address.ts';
import type { Runs } from '../runs/feature.ts';
import { createAutomationAccess, type AutomationAccess } from './access-store.ts';
import { createBrowseStore } from './browse/browse-store.ts';
import { createCaptureNotes } from './capture-notes-store.ts';
import { RecordIntake } from './record-intake.ts';
import { RecordChanges, createReadRecord, type ReadRecord } from './record-view.ts';
import { type DriftDependencies, serveDrift } from './drift/feature.ts';
import { type GroupDependencies, serveGroups } from './groups/feature.ts';
import { createKeptScreens, type KeptScreens } from './groups/prints/kept-screens.ts';
import type { Solving } from './groups/solving.ts';
import { createGroupStore } from './groups/store.ts';
import { createRetentionStore } from './retention/retention-store.ts';
import { RecordRetention } from './retention/retention.ts';
import { addRecordRoutes } from './routes.ts';
import { createReadSequence, type ReadSequence } from './saved-sequence.ts';
import { createRecordStore, type RecordStore } from './store.ts';
import { kindOf } from './cells.ts';

interface RecordDependencies {
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
  /** Everybody who may review the records of a project. */
  listReviewers(automation: { ownerId: string; automationId: string }): Promise<string[]>;
  /** Deletes the records that a user who goes would leave. */
  deleteOwner(userId: string): Promise<void>;
  /** Adds groups, which need projects. */
  serveGroups(projects: GroupDependencies['projects']): Solving;
  /** Adds what is known of versions of apps. */
  serveDrift(listGolden: DriftDependencies['listGolden']): void;
}

const hourMs = 60 * 60 * 1000;

/** Out-of-steps records with their captures. */
export async function openRecords(context: Context, dependencies: RecordDependencies): Promise<Records> {
  const { app, config, hosts, database, clock, log } = context;
  const { devices, runs, feed, metrics } = dependencies;
  const figures = metrics.records;
  const store = createRecordStore(database);
  const noteStore = createCaptureNotes(database);
  const access = createAutomationAccess(database);
  const { captures, urls } = await openCaptures(context, () => config.fileUrl ?? urlOf(app.server.address()));
  const read = createReadRecord({ store, access, captureUrl: (key) => urls.urlOf(key) });
  const onDeleted = (count: number): void => {
    figures.deleted.inc(count);
    void cleanCaptures();
  };
  const changes = new RecordChanges({ access, read, log, feed, figures, onDeleted });
  let onTree = (): void => undefined;
  const notes = { ...noteStore, ...captureNotes(store, noteStore, { changes, onTree: () => onTree() }) };
  const cleanCaptures = await serveCaptures(context, { captures, urls, notes, figures });
  const limits = { debugPerTag: keptDebugRecords, others: config.recordsKept };
  const retention = addRetention(context, limits, onDeleted);
  const { fleet } = devices;
  const intake = new RecordIntake({
    ...{ store, access, fleet, clock, log, limits, changes },
    findRun: runs.store.find,
  });
  hosts.on('record', (link, report) => intake.take(link, report));
  addRecordRoutes(app, {
    ...{ store, access, changes, read, clock, limits },
    browser: createBrowseStore(database),
    deleteOne: createRetentionStore(database).deleteOne,
  });
  const groups = createGroupStore(database);
  const captureUrl: GroupDependencies['captureUrl'] = (key) => urls.urlOf(key);
  return {
    projectDeleted: async (projectId) => {
      await retention.deleteProject(projectId);
      await groups.deleteOf('project_id', projectId);
    },
    recordsOfRun: createRecordsOfRun({ store, access, read }),
    listReviewers: (automation) => access.listReviewers(automation),
    captures,
    keptScreens: createKeptScreens(database),
    readSequence: createReadSequence(store, captures),
    findProjectOf: async (recordId) => (await store.find(recordId))?.project_id,
    deleteOwner: async (userId) => {
      await retention.deleteOwner(userId);
      await groups.deleteOf('owner_id', userId);
    },
    serveGroups: (projects) => {
      const served = serveGroups(context, { store, access, captures, captureUrl, changes, feed, projects });
      onTree = () => served.look();
      return served.solving;
    },
    serveDrift: (listGolden) => serveDrift(context, { access, listGolden }),
  };
}

const captureNotes = (
  store: RecordStore,
  notes: ReturnType<typeof createCaptureNotes>,
  { changes, onTree }: { changes: RecordChanges; onTree: () => void },
): CaptureNotes => ({
  async expectationOf(userId, key) {
    const record = await store.find(key.recordId);
    if (record?.user_id !== userId) return 'unknown';
    const state = (await notes.findScreen(key.recordId, key.screenId))?.[key.kind] ?? 'none';
    return state === 'none' ? 'unknown' : state;
  },
  async noteStored({ recordId, screenId, kind }, sizeBytes) {
    const record = await notes.captureStored(recordId, screenId, { kind, sizeBytes });
    if (record === undefined) return false;
    changes.changed(record);
    if (kind === 'tree') onTree();
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

/** What a run has left, for a user. */
type RecordsOfRun = (run: {
  id: string;
  user_id: string;
}) => Promise<Pick<RunDetail, 'records' | 'last_screen'>>;

interface Options {
  store: RecordStore;
  access: AutomationAccess;
  read: ReadRecord;
}

const mostRecords = 100;
const nothing = { records: [], last_screen: null };

/** A user who may not review the project's records is told of none. */
function createRecordsOfRun({ store, access, read }: Options): RecordsOfRun {
  return async ({ id, user_id: userId }) => {
    const records = await store.listOfRun(id, mostRecords);
    const [newest] = records;
    if (newest === undefined) return nothing;
    const { owner_id: ownerId, automation_id: automationId } = newest;
    const role = await access.findRole(userId, { ownerId, automationId });
    if (role !== 'owner' && role !== 'shared_editor') return nothing;
    const screen = (await read(newest)).screens.at(-1);
    return {
      records: records.map((record) => ({ record_id: record.id, type: kindOf(record.cell).type })),
      last_screen: screen === undefined ? null : { record_id: newest.id, screen },
    };
  };
}
