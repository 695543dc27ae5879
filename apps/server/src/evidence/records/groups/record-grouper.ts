import { buffer } from 'node:stream/consumers';
import type { Claim, WorkItem } from '../../../storage/db/work-queue.ts';
import type { Captures } from '../../../runs/captures/captures.ts';
import { readFacts } from './enqueue-grouping.ts';
import type { Contained, Grouping, Joined, JoiningStore, ReadScreen } from './joining-store.ts';
import type { StoredGroup } from './membership-store.ts';
import type { PrintReader } from './prints/print-process.ts';
import type { CommitHistory } from './solving.ts';

interface Options {
  store: JoiningStore;
  captures: Captures;
  reader: PrintReader;
  history: CommitHistory;
  onJoined: (group: StoredGroup) => void;
}

/** Maximum number of commit look-ups per record. Its group may be solved in another commit in the meantime. */
const maxQuestions = 5;

/** Groups records whose trees are stored. */
export class RecordGrouper {
  readonly #options: Options;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Groups the record of an item and ends its claim. */
  async group(item: WorkItem, claim: Claim): Promise<void> {
    const grouping: Grouping = { ...readFacts(item), record_id: item.key, claim };
    const { store, onJoined, history } = this.#options;
    const read = await this.#read(grouping);
    if ('problem' in read) return store.refuse(grouping, read.problem);
    const contained = new Map<string, boolean>();
    for (let questions = 0; questions < maxQuestions; questions += 1) {
      const joined: Joined = await store.join(grouping, read, contained satisfies Contained);
      if (joined.kind === 'joined') onJoined(joined.group);
      if (joined.kind !== 'ask') return;
      const { commit: older, ...project } = joined;
      const question = { ...project, older, newer: grouping.commit_hash ?? '' };
      contained.set(older, await history.contains(question));
    }
    throw new Error(`the group of record ${grouping.record_id} was solved again and again`);
  }

  async #read({
    record_id: recordId,
    screen_id: screenId,
  }: Grouping): Promise<ReadScreen | { problem: string }> {
    const capture = await this.#options.captures.find({ recordId, screenId, kind: 'tree' });
    if (capture === undefined) return { problem: 'The tree of its last screen is no longer stored.' };
    const tree = await buffer(capture.read());
    const reply = await this.#options.reader.read(tree);
    return 'problem' in reply ? reply : { ...reply, tree };
  }
}
