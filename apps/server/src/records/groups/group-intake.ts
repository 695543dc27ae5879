import { buffer } from 'node:stream/consumers';

import { periodically } from '../../background-job.ts';
import type { Captures } from '../../captures/captures.ts';
import type { Clock } from '../../clock.ts';
import type { FaultMonitor } from '../../faults/fault-monitor.ts';
import type { CommitHistory } from './commit-history.ts';
import type { Contained, Grouping, Joined, JoiningStore, ReadScreen } from './joining-store.ts';
import type { StoredGroup } from './membership-store.ts';
import type { PrintReader } from './prints/print-process.ts';

interface Options {
  store: JoiningStore;
  captures: Captures;
  reader: PrintReader;
  history: CommitHistory;
  onJoined: (group: StoredGroup) => void;
  clock: Clock;
  faults: FaultMonitor;
}

/** What another server has noted is found after so long. */
const lookEveryMs = 2000;
/** A server that claims a record and is killed keeps others from it for so long. */
const claimMs = 10_000;
const claimedAtOnce = 10;
/** The group of a record may be solved in another commit while one is looked up. */
const mostQuestions = 5;

/** Puts records into groups when the trees of their last screens are there. Each server looks; a record is grouped once. */
export class GroupIntake {
  readonly #options: Options;
  readonly #endLooking: () => Promise<void>;
  #looking: Promise<void> = Promise.resolve();
  #isWaiting = false;
  #isClosed = false;

  constructor(options: Options) {
    this.#options = options;
    this.#endLooking = periodically(options.faults, lookEveryMs, () => this.look());
  }

  /** Does all that is there. */
  look(): Promise<void> {
    // One look that has not begun is enough for all that is stored by now.
    if (this.#isWaiting) return this.#looking;
    this.#isWaiting = true;
    this.#looking = this.#looking.then(() => this.#look());
    return this.#looking;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#endLooking();
    await this.#looking;
    await this.#options.reader.close();
  }

  async #look(): Promise<void> {
    this.#isWaiting = false;
    const { store, clock, faults } = this.#options;
    try {
      for (let count = claimedAtOnce; count === claimedAtOnce && !this.#isClosed;) {
        const now = clock.now();
        const claimed = await store.claim(now, now + claimMs, claimedAtOnce);
        for (const grouping of claimed) await this.#group(grouping);
        count = claimed.length;
      }
    } catch (error) {
      faults.report(error, 'records could not be put into groups');
    }
  }

  async #group(grouping: Grouping): Promise<void> {
    const { store, onJoined } = this.#options;
    const read = await this.#read(grouping);
    if ('problem' in read) return store.refuse(grouping, read.problem);
    const contained = new Map<string, boolean>();
    for (let questions = 0; questions < mostQuestions; questions += 1) {
      const joined: Joined = await store.join(grouping, read, contained satisfies Contained);
      if (joined.kind === 'joined') onJoined(joined.group);
      if (joined.kind !== 'ask') return;
      const { commit: older, ...project } = joined;
      const question = { ...project, older, newer: grouping.commit_hash ?? '' };
      contained.set(older, await this.#options.history.contains(question));
    }
  }

  async #read({
    record_id: recordId,
    screen_id: screenId,
  }: Grouping): Promise<ReadScreen | { problem: string }> {
    const capture = await this.#options.captures.find({ recordId, screenId, kind: 'tree' });
    if (capture === undefined) return { problem: 'The tree of its last screen is not stored any more.' };
    const tree = await buffer(capture.read());
    const reply = await this.#options.reader.read(tree);
    return 'problem' in reply ? reply : { ...reply, tree };
  }
}
