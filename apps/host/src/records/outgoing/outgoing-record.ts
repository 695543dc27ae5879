import { CaptureKind, RecordReport, Uuid } from '@phalanx/protocol';
import { Type, type Static } from 'typebox';

/** A capture as it goes to disk: a tree compressed, a screenshot as it is. */
export interface Capture {
  screenId: string;
  kind: CaptureKind;
  bytes: Buffer;
}

/** A record with all that belongs to it. */
export interface OutgoingRecord {
  report: RecordReport;
  captures: readonly Capture[];
}

/** What stands in a record's folder beside the captures: the record, and where in the file each capture is. */
export const RecordIndex = Type.Object({
  report: RecordReport,
  captures: Type.Array(
    Type.Object({
      screen_id: Uuid,
      kind: CaptureKind,
      offset: Type.Integer({ minimum: 0 }),
      size_bytes: Type.Integer({ minimum: 0 }),
    }),
  ),
});
export type RecordIndex = Static<typeof RecordIndex>;

export function indexOf({ report, captures }: OutgoingRecord): RecordIndex {
  let offset = 0;
  return {
    report,
    captures: captures.map(({ screenId, kind, bytes }) => {
      const entry = { screen_id: screenId, kind, offset, size_bytes: bytes.byteLength };
      offset += bytes.byteLength;
      return entry;
    }),
  };
}

/** The same record when only the first bytes of its captures are there. */
export function cutShort({ report, captures }: RecordIndex, presentBytes: number): RecordIndex {
  const present = captures.filter(({ offset, size_bytes }) => offset + size_bytes <= presentBytes);
  const has = (screenId: string, kind: CaptureKind): boolean =>
    present.some((capture) => capture.screen_id === screenId && capture.kind === kind);
  const screens = report.screens.map((screen) => {
    const isPictureLost = screen.screenshot !== null && !has(screen.screen_id, 'screenshot');
    return {
      ...screen,
      has_tree: screen.has_tree && has(screen.screen_id, 'tree'),
      screenshot: isPictureLost ? null : screen.screenshot,
      screenshot_failed: screen.screenshot_failed || isPictureLost,
    };
  });
  return { report: { ...report, screens, is_cut_short: true }, captures: present };
}
