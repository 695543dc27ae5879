import { randomUUID } from 'node:crypto';
import type { RecordReport, ScreenReport, ServerMessage } from '@phalanx/protocol';
import { v7 as uuidv7 } from 'uuid';

import type { TestHost } from '../test-host.ts';

export const screenReport = (more: Partial<ScreenReport> = {}): ScreenReport => ({
  screen_id: randomUUID(),
  next_stage: 'checkout',
  screen_state: 'unknown',
  max_steps: 0,
  timestamp: Date.now(),
  has_tree: true,
  screenshot: { width: 540, height: 1212, original_width: 1080, original_height: 2424 },
  screenshot_failed: false,
  ...more,
});

/** A record without screens, which needs no captures. */
export const recordReport = (runId: string, more: Partial<RecordReport> = {}): RecordReport => ({
  record_id: uuidv7(),
  run_id: runId,
  type: 'outOfSteps',
  tag: null,
  screens: [],
  is_cut_short: false,
  ...more,
});

type Missing = Extract<ServerMessage, { type: 'record_stored' }>['missing'];

/** Tells of a record, and resolves with what the server answers. */
export async function sendReport(host: TestHost, report: RecordReport): Promise<Missing> {
  const answer = host.waitFor('record_stored', (message) => message.record_id === report.record_id);
  host.send({ type: 'record', record: report });
  return (await answer).missing;
}

/** Returns bytes that the service takes for a JPEG, because it looks at the first ones. */
export const jpegBytes = (sizeBytes = 100): Uint8Array<ArrayBuffer> => {
  const bytes = new Uint8Array(sizeBytes);
  bytes.set([0xff, 0xd8, 0xff, 0xe0]);
  return bytes;
};
