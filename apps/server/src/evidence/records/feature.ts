import { keptDebugRecords } from '@phalanx/protocol';
import { addBackgroundJob } from '../../storage/background-job.ts';
import type { Captures } from '../../runs/captures/captures.ts';
import { openCaptures, serveCaptures } from '../../runs/captures/feature.ts';
import type { Context } from '../../http/context.ts';
import type { DeviceAccess } from '../../fleet/devices/device-access.ts';
import type { Hosts } from '../../fleet/hosts/feature.ts';
import type { EventFeed } from '../../runs/events/event-feed.ts';
import type { Metrics } from '../../http/health/metrics.ts';
import { urlOf } from '../../http/requests/addresses.ts';
import type { Runs } from '../../runs/runs/feature.ts';
import { createAutomationAccess } from './access-store.ts';
import { createBrowseStore } from './browse/browse-store.ts';
import { captureNotes } from './capture-notes.ts';
import { createCaptureNotes, createRecordStore } from './store.ts';
import { RecordIntake } from './record-intake.ts';
import { RecordChanges } from './record-changes.ts';
import { createReadRecord } from './record-view.ts';
import { createRecordsOfRun, type RecordsOfRun } from './records-of-run.ts';
import { type DriftDependencies, serveDrift } from './drift/feature.ts';
import { type GroupDependencies, serveGroups } from './groups/feature.ts';
import { createKeptScreens, type KeptScreens } from './groups/prints/kept-screens.ts';
import type { Solving } from '../../code/commits/solving.ts';
import { createGroupStore } from './groups/store.ts';
import { RecordRetention } from './retention/record-retention.ts';
import { createRetentionStore } from './retention/retention-store.ts';
import { addRecordRoutes } from './routes.ts';
import { createReadSequence, type ReadSequence } from './saved-sequence.ts';
import { hourMs } from '@phalanx/timing/durations';

interface RecordDependencies {
  hosts: Hosts;
  devices: DeviceAccess;
  runs: Runs;
  feed: EventFeed;
  metrics: Metrics;
}

export interface Records {
  /** Deletes the records and groups of a project. Call it after the project is deleted. */
  projectDeleted(projectId: string): Promise<void>;
  readonly recordsOfRun: RecordsOfRun;
  readonly captures: Captures;
  readonly keptScreens: KeptScreens;
  readonly readSequence: ReadSequence;
  /**
   * Finds the project of a record. Returns undefined when there is no such record, and null for a record of direct
   * code.
   */
  findProjectOf(recordId: string): Promise<string | null | undefined>;
  /**
   * Lists the users who may review the records of a project, and who own it or have accepted it. Only they receive
   * unsolicited messages about it, and only their hosts work for it.
   */
  readonly listAcceptedReviewers: (automation: {
    ownerId: string;
    automationId: string;
  }) => Promise<string[]>;
  /** Deletes the records and groups that a deleted user leaves behind. */
  deleteOwner(userId: string): Promise<void>;
  /** Adds groups, which need projects. */
  serveGroups(projects: GroupDependencies['projects']): Solving;
  /** Adds the statistics of app versions. */
  serveDrift(listGolden: DriftDependencies['listGolden']): void;
}

/** Opens the out-of-steps records with their captures. */
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
