import { buffer } from 'node:stream/consumers';
import type { HostQuestionOf, RecordType } from '@phalanx/protocol';
import type { Captures } from '../../runs/captures/captures.ts';
import type { StoredRecord, StoredScreen } from './stored-record.ts';
import { readActions } from './record-view.ts';
import type { RecordStore } from './store.ts';

type Sequence = NonNullable<HostQuestionOf<'replay'>['sequence']>;

/** Record to replay in order, or why it cannot be replayed: the end of a sentence that begins with "The record". */
export type SavedSequence = { runId: string; sequence: Sequence } | { problem: string };

export type ReadSequence = (recordId: string) => Promise<SavedSequence | undefined>;

/** Maximum size of all trees of a record together. */
const maxBytes = 8 * 1024 * 1024;

export const createReadSequence =
  (store: RecordStore, captures: Captures): ReadSequence =>
  async (recordId) => {
    const record = await store.find(recordId);
    if (record === undefined) return undefined;
    const screens = await store.listScreens(recordId);
    if (screens.length === 0) return { problem: 'has no screens' };
    const read: Sequence['screens'] = [];
    let left = maxBytes;
    for (const [index, screen] of screens.entries()) {
      const treeJson = await readTree(captures, screen, left);
      if (treeJson === undefined) return { problem: `has no tree of its screen ${index + 1}` };
      if (treeJson === 'too large') return { problem: `has trees of more than ${maxBytes} bytes together` };
      left -= Buffer.byteLength(treeJson);
      const { next_stage: stage, screen_state: state, actions } = screen;
      read.push({ tree_json: treeJson, stage, state, calls: readActions(actions) });
    }
    return { runId: record.run_id, sequence: { screens: read, ends: endOf(record) } };
  };

async function readTree(
  captures: Captures,
  { record_id: recordId, screen_id: screenId, tree }: StoredScreen,
  maxLength: number,
): Promise<string | undefined> {
  const found = tree === 'stored' ? await captures.find({ recordId, screenId, kind: 'tree' }) : undefined;
  if (found === undefined) return undefined;
  if (found.sizeBytes <= maxLength) return (await buffer(found.read())).toString();
  await found.close();
  return 'too large';
}

const ends: Record<RecordType, Sequence['ends']> = {
  outOfSteps: 'submits',
  timeout: 'submits',
  crash: 'throws',
  debug: null,
};

/**
 * Returns how the recorded run ended. A record that its host made because of a time limit says nothing about the code.
 */
function endOf({ type, error }: StoredRecord): Sequence['ends'] {
  return type === 'timeout' && error !== null ? null : ends[type];
}
