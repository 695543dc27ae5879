import path from 'node:path';
import type { RecordReport } from '@phalanx/protocol';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';

import { CaptureCleaner } from './captures/capture-cleaner.ts';
import type { CaptureKey } from './captures/capture-store.ts';
import { CaptureUploads, type Expectation } from './captures/capture-uploads.ts';
import { FolderCaptures } from './captures/folder-captures.ts';
import { addCaptureRoutes } from './captures/routes.ts';
import { SignedUrls } from './captures/signed-urls.ts';
import { openSigningKey } from './captures/signing-key.ts';
import type { Clock } from './clock.ts';
import type { Db } from './db/database.ts';
import type { Fleet } from './devices/fleet.ts';
import type { RecordFigures } from './health/metrics.ts';
import type { HostLink } from './hosts/host-link.ts';
import { periodically } from './periodically.ts';
import { createAutomationAccess } from './records/access-store.ts';
import { createBrowseStore } from './records/browse-store.ts';
import type { ExpectedCapture } from './records/expected-captures.ts';
import { RecordChanges, type RecordNews } from './records/record-changes.ts';
import { RecordIntake, type OriginRun } from './records/record-intake.ts';
import { createReadRecord } from './records/record-reader.ts';
import { RecordRetention } from './records/retention.ts';
import { addRecordRoutes } from './records/routes.ts';
import { createRecordStore, type RecordStore } from './records/store.ts';

interface RecordFeaturesOptions {
  database: Db;
  dataDir: string;
  /** Public base of capture URLs, without a slash at its end. */
  fileUrl: () => string;
  /** Records that are not `debug` that an automation keeps. */
  recordsKept: number;
  findRun: (runId: string) => Promise<OriginRun | undefined>;
  fleet: Fleet;
  clock: Clock;
  log: Logger;
  figures: RecordFigures;
  isFollowed: () => boolean;
  publish: (news: RecordNews) => void;
}

/** Out-of-steps records with their captures. */
export interface RecordFeatures {
  /** Takes in a record of a host. Returns the captures that have still to come; none: the host may forget it. */
  take(link: HostLink, report: RecordReport): Promise<ExpectedCapture[]>;
  /** Call it after a project is gone. */
  projectDeleted(projectId: string): Promise<void>;
  addRoutes(app: FastifyInstance): Promise<void>;
  close(): Promise<void>;
}

const debugPerTag = 200;
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** Whether a user's host has announced a capture. */
async function expectationOf(store: RecordStore, userId: string, key: CaptureKey): Promise<Expectation> {
  const record = await store.find(key.recordId);
  if (record?.user_id !== userId) return 'unknown';
  const state = (await store.findScreen(key.recordId, key.screenId))?.[key.kind] ?? 'none';
  return state === 'none' ? 'unknown' : state;
}

/** Throws when the folder of the captures or the key of their URLs can't be used. */
export async function openRecordFeatures(options: RecordFeaturesOptions): Promise<RecordFeatures> {
  const { database, dataDir, clock, log, figures, fleet, findRun } = options;
  const store = createRecordStore(database);
  const access = createAutomationAccess(database);
  const captures = await FolderCaptures.open(path.resolve(dataDir, 'captures'));
  const urls = new SignedUrls({ key: await openSigningKey(dataDir), clock, base: options.fileUrl });
  const read = createReadRecord({ store, access, captureUrl: (key) => urls.urlOf(key) });
  const cleaner = new CaptureCleaner({ captures, ...store });

  let cleaned = Promise.resolve();
  const clean = (): Promise<void> => {
    cleaned = cleaned
      .then(() => cleaner.clean())
      .catch((error: unknown) => log.error({ err: error }, 'captures could not be deleted yet'));
    return cleaned;
  };
  const onDeleted = (count: number): void => {
    figures.deleted.inc(count);
    void clean();
  };
  const changes = new RecordChanges({
    ...{ store, access, read, log, onDeleted },
    isFollowed: options.isFollowed,
    publish: options.publish,
    onStored: (type) => figures.stored.inc({ type }),
  });
  const limits = { debugPerTag, others: options.recordsKept };
  const retention = new RecordRetention({ store, clock, limits, onDeleted });
  const intake = new RecordIntake({ store, access, findRun, fleet, clock, log, limits, changes });
  const uploads = new CaptureUploads({
    captures,
    expectationOf: (userId, key) => expectationOf(store, userId, key),
    noteStored: async ({ recordId, screenId, kind }) => {
      const record = await store.captureStored(recordId, screenId, kind);
      if (record !== undefined) changes.changed(record);
      return record !== undefined;
    },
    onStored: (kind, sizeBytes) => {
      figures.captures.inc({ kind });
      figures.captureBytes.inc(sizeBytes);
    },
  });

  // What a crash left undone.
  void clean();
  const swept = retention.sweep().catch((error: unknown) => {
    log.error({ err: error }, 'old records could not be deleted');
  });
  const endRetention = periodically(log, hourMs, () => retention.sweep());
  const endCleaning = periodically(log, minuteMs, async () => {
    await clean();
    await cleaner.cleanNextPart();
  });

  return {
    take: (link, report) => intake.take(link, report),
    projectDeleted: (projectId) => retention.deleteProject(projectId),
    addRoutes: async (app) => {
      const browser = createBrowseStore(database);
      addRecordRoutes(app, { store, browser, access, changes, read, clock, limits });
      await addCaptureRoutes(app, { captures, uploads, urls });
    },
    close: async () => {
      await Promise.all([endRetention(), endCleaning(), swept]);
      await cleaned;
    },
  };
}
