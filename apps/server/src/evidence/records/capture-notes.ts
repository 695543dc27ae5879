import type { CaptureNotes } from '../../runs/captures/feature.ts';
import type { Runs } from '../../runs/runs/feature.ts';
import type { RecordChanges } from './record-changes.ts';
import type { createCaptureNotes, RecordStore } from './store.ts';

interface CaptureNoting {
  store: RecordStore;
  notes: ReturnType<typeof createCaptureNotes>;
  runs: Pick<Runs['store'], 'find' | 'findOfHost'>;
  changes: RecordChanges;
}

export const captureNotes = ({ store, notes, runs, changes }: CaptureNoting): CaptureNotes => ({
  async expectationOf(caller, key) {
    const record = await store.find(key.recordId);
    if (record?.user_id !== caller.userId) return 'unknown';
    // A record may be kept for longer than its run.
    const isOthers =
      (await runs.findOfHost(record.run_id, caller)) === undefined &&
      (await runs.find(record.run_id)) !== undefined;
    if (isOthers) return 'unknown';
    const state = (await notes.findScreen(key.recordId, key.screenId))?.[key.kind] ?? 'none';
    return state === 'none' ? 'unknown' : state;
  },
  async noteStored({ recordId, screenId, kind }, sizeBytes) {
    const record = await notes.captureStored(recordId, screenId, { kind, sizeBytes });
    if (record === undefined) return false;
    changes.changed(record);
    return true;
  },
});
