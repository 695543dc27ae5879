import {
  captureKinds,
  defaultTag,
  type CaptureKind,
  type RecordReport,
  type ScreenReport,
} from '@phalanx/protocol';

import { cellOf } from '../cells.ts';
import type { StoredRecord, StoredScreen } from '../stored-record.ts';

/** What the service knows of a record's origin beyond what the host tells. */
export type RecordOrigin = Omit<
  StoredRecord,
  | 'id'
  | 'run_id'
  | 'cell'
  | 'tag'
  | 'retention_group'
  | 'saved'
  | 'has_gap'
  | 'missing_captures'
  | 'capture_bytes'
  | 'error'
  | 'app'
>;

/** Without a picture, wanted or not, there are no sizes. */
const noPicture = { width: 0, height: 0, original_width: 0, original_height: 0 };

function screenOf(recordId: string, report: ScreenReport, position: number): StoredScreen {
  return {
    record_id: recordId,
    position,
    screen_id: report.screen_id.toLowerCase(),
    next_stage: report.next_stage,
    screen_state: report.screen_state,
    max_steps: report.max_steps,
    captured_at: report.timestamp,
    tree: report.has_tree ? 'expected' : 'none',
    screenshot: report.screenshot === null ? 'none' : 'expected',
    ...(report.screenshot ?? noPicture),
    actions: report.calls === undefined || report.calls.length === 0 ? null : JSON.stringify(report.calls),
  };
}

const captureCount = (screens: readonly ScreenReport[]): number =>
  screens.reduce((sum, screen) => sum + Number(screen.has_tree) + Number(screen.screenshot !== null), 0);

const hasGap = ({ is_cut_short: isCutShort, screens }: RecordReport): boolean =>
  isCutShort || screens.some((screen) => !screen.has_tree || screen.screenshot_failed);

const jsonOrNull = (value: object | null | undefined): string | null =>
  value === undefined || value === null ? null : JSON.stringify(value);

/** The rows of a record that a host tells of. */
export function newRecord(
  report: RecordReport,
  origin: RecordOrigin,
): { record: StoredRecord; screens: StoredScreen[] } {
  const id = report.record_id.toLowerCase();
  // Half of a surrogate pair would come back from the database as another character.
  const tag = report.type === 'debug' ? (report.tag ?? defaultTag).toWellFormed() : defaultTag;
  const missing = captureCount(report.screens);
  const record: StoredRecord = {
    ...origin,
    id,
    run_id: report.run_id.toLowerCase(),
    cell: cellOf({ type: report.type, status: 'pending', isPartial: missing > 0 || hasGap(report) }),
    tag,
    retention_group: report.type === 'debug' ? tag : '',
    saved: 0,
    has_gap: hasGap(report) ? 1 : 0,
    missing_captures: missing,
    capture_bytes: 0,
    error: jsonOrNull(report.error),
    app: jsonOrNull(report.app),
  };
  return { record, screens: report.screens.map((screen, position) => screenOf(id, screen, position)) };
}

/** A capture that its host has announced and not yet sent, in the words of the wire. */
export interface ExpectedCapture {
  screen_id: string;
  kind: CaptureKind;
}

export const expectedCaptures = (screens: readonly StoredScreen[]): ExpectedCapture[] =>
  screens.flatMap((screen) =>
    captureKinds
      .filter((kind) => screen[kind] === 'expected')
      .map((kind) => ({ screen_id: screen.screen_id, kind })),
  );
