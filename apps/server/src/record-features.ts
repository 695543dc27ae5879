import path from 'node:path';

import { CaptureCleaner } from './captures/capture-cleaner.ts';
import type { CaptureKey, CaptureStore } from './captures/capture-store.ts';
import { CaptureUploads, type Expectation } from './captures/capture-uploads.ts';
import { FolderCaptures } from './captures/folder-captures.ts';
import { addCaptureRoutes } from './captures/routes.ts';
import { S3Captures } from './captures/s3-captures.ts';
import { SignedUrls } from './captures/signed-urls.ts';
import { openSharedSigningKey, openSigningKey } from './captures/signing-key.ts';
import { byOneServer } from './db/locks.ts';
import { probeOfPart } from './faults/probe-folder.ts';
import type { FleetFeatures } from './fleet-features.ts';
import type { Foundation } from './foundation.ts';
import { periodically } from './periodically.ts';
import { createAutomationAccess } from './records/access-store.ts';
import { createBrowseStore } from './records/browse/browse-store.ts';
import { createCaptureNotes, type CaptureNotes } from './records/capture-notes-store.ts';
import { RecordChanges } from './records/record-changes.ts';
import { RecordIntake } from './records/intake/record-intake.ts';
import { createReadRecord } from './records/record-view.ts';
import { createRecordsOfRun, type RecordsOfRun } from './records/records-of-run.ts';
import { createRetentionStore } from './records/retention/retention-store.ts';
import { RecordRetention } from './records/retention/retention.ts';
import { addRecordRoutes } from './records/routes.ts';
import { createRecordStore, type RecordStore } from './records/store.ts';
import type { Bucket } from './s3/bucket.ts';
import { Spool } from './s3/spool.ts';

interface RecordOptions {
  /** Public base of capture URLs, without a slash at its end. */
  fileUrl: () => string;
  /** Records that are not `debug` that an automation keeps. */
  recordsKept: number;
  fleetFeatures: FleetFeatures;
  /** Where captures are; none: in the data folder. */
  bucket: Bucket | undefined;
}

export interface RecordFeatures {
  /** Call it after a project is gone. */
  projectDeleted(projectId: string): Promise<void>;
  readonly recordsOfRun: RecordsOfRun;
  /** Deletes the records that a user who goes would leave. */
  deleteOwner(userId: string): Promise<void>;
}

const debugPerTag = 200;
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

interface Stores {
  store: RecordStore;
  notes: CaptureNotes;
}

/** Whether a user's host has announced a capture. */
async function expectationOf(
  { store, notes }: Stores,
  userId: string,
  key: CaptureKey,
): Promise<Expectation> {
  const record = await store.find(key.recordId);
  if (record?.user_id !== userId) return 'unknown';
  const state = (await notes.findScreen(key.recordId, key.screenId))?.[key.kind] ?? 'none';
  return state === 'none' ? 'unknown' : state;
}

async function openCaptures(
  { dataDir, faults }: Foundation,
  bucket: Bucket | undefined,
): Promise<CaptureStore> {
  const folder = path.resolve(dataDir, 'captures');
  const captures =
    bucket === undefined
      ? await FolderCaptures.open(folder)
      : new S3Captures(bucket, await Spool.open(path.join(folder, 'incoming')));
  faults.addProbe('disk', probeOfPart(folder));
  return captures;
}

/** Returns what deletes the captures of records that are gone. */
function openCleaning({ app, database, faults }: Foundation, captures: CaptureStore, notes: CaptureNotes) {
  const cleaner = new CaptureCleaner({ captures, ...notes });
  let cleaned = Promise.resolve();
  const cleanNow = byOneServer(database, 'clean captures', () => cleaner.clean());
  const cleanPart = byOneServer(database, 'clean captures', () => cleaner.cleanNextPart());
  const clean = (): Promise<void> => {
    cleaned = cleaned
      .then(cleanNow)
      .catch((error: unknown) => faults.report(error, 'captures could not be deleted yet'));
    return cleaned;
  };
  // What a crash left undone.
  void clean();
  const endCleaning = periodically(faults, minuteMs, async () => {
    await clean();
    await cleanPart();
  });
  app.addHook('onClose', async () => {
    await endCleaning();
    await cleaned;
  });
  return clean;
}

function openRetention({ app, database, faults }: Foundation, retention: RecordRetention): void {
  const sweep = byOneServer(database, 'delete old records', () => retention.sweep());
  const swept = sweep().catch((error: unknown) => {
    faults.report(error, 'old records could not be deleted');
  });
  const endRetention = periodically(faults, hourMs, sweep);
  app.addHook('onClose', () => swept);
  app.addHook('onClose', endRetention);
}

/** Out-of-steps records with their captures. Throws when the folder of the captures or the key of their URLs can't be used. */
export async function openRecordFeatures(
  foundation: Foundation,
  { fileUrl, recordsKept, fleetFeatures, bucket }: RecordOptions,
): Promise<RecordFeatures> {
  const { app, bus, hosts, database, dataDir, clock, limits, log } = foundation;
  const { devices, runs, feed, metrics } = fleetFeatures;
  const { fleet } = devices;
  const figures = metrics.records;
  const store = createRecordStore(database);
  const notes = createCaptureNotes(database);
  const access = createAutomationAccess(database);
  const captures = await openCaptures(foundation, bucket);
  const signingKey = bus === undefined ? openSigningKey(dataDir) : openSharedSigningKey(database, dataDir);
  const urls = new SignedUrls({ key: await signingKey, clock, base: fileUrl });
  const read = createReadRecord({ store, access, captureUrl: (key) => urls.urlOf(key) });
  const clean = openCleaning(foundation, captures, notes);
  const onDeleted = (count: number): void => {
    figures.deleted.inc(count);
    void clean();
  };
  const changes = new RecordChanges({ access, read, log, feed, figures, onDeleted });
  const retained = { debugPerTag, others: recordsKept };
  const retention = new RecordRetention({
    store: createRetentionStore(database),
    clock,
    limits: retained,
    onDeleted,
  });
  openRetention(foundation, retention);
  const intake = new RecordIntake({
    ...{ store, access, fleet, clock, log, limits: retained, changes },
    findRun: runs.find,
  });
  hosts.on('record', (link, report) => intake.take(link, report));
  const uploads = new CaptureUploads({
    captures,
    expectationOf: (userId, key) => expectationOf({ store, notes }, userId, key),
    keepRoom: (userId, sizeBytes) => limits.keepRoom('capture_bytes', userId, sizeBytes),
    noteStored: async ({ recordId, screenId, kind }, sizeBytes) => {
      const record = await notes.captureStored(recordId, screenId, { kind, sizeBytes });
      if (record !== undefined) changes.changed(record);
      return record !== undefined;
    },
    onStored: (kind, sizeBytes) => {
      figures.captures.inc({ kind });
      figures.captureBytes.inc(sizeBytes);
    },
  });
  const browser = createBrowseStore(database);
  addRecordRoutes(app, { store, browser, access, changes, read, clock, limits: retained });
  await addCaptureRoutes(app, { captures, uploads, urls });
  return {
    projectDeleted: (projectId) => retention.deleteProject(projectId),
    recordsOfRun: createRecordsOfRun({ store, access, read }),
    deleteOwner: (userId) => retention.deleteOwner(userId),
  };
}
