import { RecordedApp } from '@phalanx/protocol';
import { Compile } from 'typebox/compile';

import type { Row } from '../../storage/db/tables/tables.ts';

export type StoredRecord = Row<'record'>;
export type StoredScreen = Row<'record_screen'>;

const recordedApp = Compile(RecordedApp);

/** Reads the app of a record. Returns undefined when the host reported none. */
export function readApp(json: string | null): RecordedApp | undefined {
  const app: unknown = json === null ? null : JSON.parse(json);
  return recordedApp.Check(app) ? app : undefined;
}

/** App version that runs of a project have seen. */
export interface MetVersion {
  readonly projectId: string;
  readonly package: string;
  readonly version: string;
}

/** Returns the app version of a record, or undefined for direct code and when the host reported none. */
export function metVersionOf({
  project_id: projectId,
  app: json,
}: Pick<StoredRecord, 'project_id' | 'app'>): MetVersion | undefined {
  const app = readApp(json);
  if (projectId === null || app === undefined || app.version === null) return undefined;
  return { projectId, package: app.package, version: app.version };
}

/** Scope of records that a user may review: all records of an owner, or those of one automation of the owner. */
export interface ReviewScope {
  readonly ownerId: string;
  /**
   * Automation ID; null means all. Two users may use the same launch ID, so it identifies an automation only together
   * with its owner.
   */
  readonly automationId: string | null;
}
