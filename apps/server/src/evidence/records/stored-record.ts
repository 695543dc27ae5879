import {
  RecordedApp,
  recordStatuses,
  recordTypes,
  type RecordStatus,
  type RecordType,
} from '@phalanx/protocol';
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

/** Filters of a record beside its automation and its tag. */
interface RecordKind {
  type: RecordType;
  status: RecordStatus;
  isPartial: boolean;
}

const perType = 2 * recordStatuses.length;

/** One number for each combination. It is stored: a new type goes to the end of `recordTypes`. */
export const cellOf = ({ type, status, isPartial }: RecordKind): number =>
  recordTypes.indexOf(type) * perType + recordStatuses.indexOf(status) * 2 + (isPartial ? 1 : 0);

const kinds: readonly RecordKind[] = recordTypes.flatMap((type) =>
  recordStatuses.flatMap((status) => [false, true].map((isPartial) => ({ type, status, isPartial }))),
);

export const allCells: readonly number[] = kinds.map(cellOf);

export function kindOf(cell: number): RecordKind {
  const kind = kinds[cell];
  if (kind === undefined) throw new Error(`no kind of record has the number ${cell}`);
  return kind;
}

/** Lists the cells that match. A filter that is left out matches everything. */
export function cellsMatching(filter: { [Key in keyof RecordKind]?: RecordKind[Key] | undefined }): number[] {
  return kinds
    .filter(
      ({ type, status, isPartial }) =>
        (filter.type ?? type) === type &&
        (filter.status ?? status) === status &&
        (filter.isPartial ?? isPartial) === isPartial,
    )
    .map(cellOf);
}

export const debugCells: readonly number[] = cellsMatching({ type: 'debug' });
export const otherCells: readonly number[] = allCells.filter((cell) => !debugCells.includes(cell));

/** Records that somebody may review: all of an owner, or those of one automation of theirs. */
export interface ReviewScope {
  readonly ownerId: string;
  /** `null`: all. Two users may use one launch ID, so an automation is known only with its owner. */
  readonly automationId: string | null;
}

/** A scope, or the records in it with one tag. Each list has counts of its own. */
export interface RecordList extends ReviewScope {
  readonly tag: string | null;
}

/** Neither kind of ID has a slash, and a tag comes last. */
export const listKey = ({ ownerId, automationId, tag }: RecordList): string =>
  `${ownerId}/${automationId ?? ''}/${tag ?? ''}`;

interface Listed {
  owner_id: string;
  automation_id: string;
  tag: string;
}

/** The lists that a record is in. */
export const listsOf = ({ owner_id: ownerId, automation_id: automationId, tag }: Listed): RecordList[] => [
  { ownerId, automationId: null, tag: null },
  { ownerId, automationId: null, tag },
  { ownerId, automationId, tag: null },
  { ownerId, automationId, tag },
];
