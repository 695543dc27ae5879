import { RecordedApp } from '@phalanx/protocol';
import { Compile } from 'typebox/compile';

import type { Row } from '../../storage/db/tables/tables.ts';

export type StoredRecord = Row<'record'>;
export type StoredScreen = Row<'record_screen'>;

const recordedApp = Compile(RecordedApp);

/** Undefined where the host told of none. */
export function readApp(json: string | null): RecordedApp | undefined {
  const app: unknown = json === null ? null : JSON.parse(json);
  return recordedApp.Check(app) ? app : undefined;
}

/** A version of an app that runs of a project have met. */
export interface MetVersion {
  readonly projectId: string;
  readonly package: string;
  readonly version: string;
}

/** Undefined: of direct code, or not told. */
export function metVersionOf({
  project_id: projectId,
  app: json,
}: Pick<StoredRecord, 'project_id' | 'app'>): MetVersion | undefined {
  const app = readApp(json);
  if (projectId === null || app === undefined || app.version === null) return undefined;
  return { projectId, package: app.package, version: app.version };
}

/** Records that somebody may review: all of an owner, or those of one automation of theirs. */
export interface ReviewScope {
  readonly ownerId: string;
  /** `null`: all. Two users may use one launch ID, so an automation is known only with its owner. */
  readonly automationId: string | null;
}
