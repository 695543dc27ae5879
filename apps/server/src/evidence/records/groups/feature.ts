import { buffer } from 'node:stream/consumers';
import { addBackgroundJob } from '../../../storage/background-job.ts';
import { addWorker } from '../../../storage/worker.ts';
import { periodically } from '../../../kernel/periodically.ts';
import type { Captures } from '../../../runs/captures/captures.ts';
import type { Context } from '../../../http/context.ts';
import type { EventFeed } from '../../../runs/events/event-feed.ts';
import type { Projects } from '../../../code/projects/feature.ts';
import type { AutomationAccess } from '../access-store.ts';
import type { RecordChanges, CaptureUrl } from '../record-view.ts';
import type { RecordStore } from '../store.ts';
import { createGroupChangeStore } from './change-store.ts';
import type { Solving } from '../../../code/commits/solving.ts';
import { createCommitHistory, type CommitHistory, createSolving, markSolved } from './solving.ts';
import { GroupChanges, createGroupViews } from './group-view.ts';
import { findNewestVerdict, createGroupStore } from './store.ts';
import {
  createJoiningStore,
  type Contained,
  type Grouping,
  type Joined,
  type JoiningStore,
  type ReadScreen,
} from './joining-store.ts';
import { createMarkingStore } from './marking-store.ts';
import { deleteKeptScreen, listKeptNames } from './prints/kept-screens-store.ts';
import { PrintReader } from './prints/print-process.ts';
import { addGroupRoutes } from './routes.ts';
import type { Clock } from '../../../kernel/clock.ts';
import type { FaultMonitor } from '../../../kernel/faults/fault-monitor.ts';
import type { StoredGroup } from './membership-store.ts';
import { SerialQueue } from '../../../kernel/serial-queue.ts';
import { minuteMs, hourMs, dayMs } from '../../../kernel/durations.ts';

export interface GroupDependencies {
  store: RecordStore;
  access: AutomationAccess;
  captures: Captures;
  captureUrl: CaptureUrl;
  changes: RecordChanges;
  feed: EventFeed;
  projects: Projects;
}

const emptyGroupsKeptMs = 180 * dayMs;
const undoKeptMs = 60 * dayMs;
/** Interval and age limit of unfinished marking: a server that marks records takes less. */
const markingMs = 10_000;

export interface Groups {
  /** Looks for records whose trees have come. */
  look(): void;
  readonly solving: Solving;
}

/** Groups of records that show the same screen. */
export function serveGroups(context: Context, dependencies: GroupDependencies): Groups {
  const { app, clock, confinement, database, faults, limits, log } = context;
  const { store: records, access, captures, captureUrl, feed, projects } = dependencies;
  const store = createGroupStore(database);
  const views = createGroupViews({ database, store, access, captureUrl });
  const changes = new GroupChanges({ access, views, feed, log });
  const history = createCommitHistory(projects.services.repositories, limits);
  const finish = addMarking(context, dependencies.changes);
  const changeStore = createGroupChangeStore(database);
  addGroupRoutes(app, {
    records,
    store,
    changeStore,
    access,
    history,
    views,
    changes,
    finish,
    clock,
    findVerdict: (id) => findNewestVerdict(database, id),
    listScreens: (id) => listKeptNames(database, id),
    deleteScreen: (id, name) => deleteKeptScreen(database, id, name),
  });
  const { carryOut, ...solving } = createSolving({
    store,
    changeStore,
    access,
    clock,
    onMarked: async ({ groups, move }) => {
      if (move !== null) await finish(move);
      for (const group of groups) changes.changed(group);
    },
  });
  const marker = addWorker(context, {
    kind: markSolved,
    places: { all: 1, lane: 1 },
    claimMs: minuteMs,
    work: carryOut,
  });
  addBackgroundJob(context, {
    name: 'delete groups without records',
    everyMs: hourMs,
    atStart: true,
    work: async () => {
      const now = clock.now();
      while ((await store.deleteSome(now - emptyGroupsKeptMs, now - undoKeptMs)) > 0);
    },
  });
  const intake = new GroupIntake({
    store: createJoiningStore(database),
    captures,
    reader: new PrintReader(confinement),
    history,
    onJoined: (group) => changes.changed(group),
    clock,
    faults,
  });
  app.addHook('onReady', async () => void intake.look());
  app.addHook('onClose', () => intake.close());
  return { look: () => void intake.look(), solving: { ...solving, mark: () => marker.whenDone() } };
}

/** Returns what marks the records of a change. Another server finishes what a dead one has left. */
function addMarking(context: Context, changes: RecordChanges): (moveId: string) => Promise<void> {
  const { clock, database } = context;
  const marking = createMarkingStore(database);
  const finish = async (moveId: string): Promise<void> => {
    for (let changed; (changed = await marking.step(moveId)) !== undefined;)
      for (const record of changed) changes.changed(record);
  };
  addBackgroundJob(context, {
    name: 'mark the records of groups',
    everyMs: markingMs,
    atStart: true,
    work: async () => {
      for (const id of await marking.listUnfinished(clock.now() - markingMs)) await finish(id);
    },
  });
  return finish;
}

interface Options {
  store: JoiningStore;
  captures: Captures;
  reader: PrintReader;
  history: CommitHistory;
  onJoined: (group: StoredGroup) => void;
  clock: Clock;
  faults: FaultMonitor;
}

/** Interval of the look that finds records which another server has noted. */
const lookEveryMs = 2000;
/** Lease of a claimed record: a server that is killed keeps others from it for this time. */
const claimMs = 10_000;
const claimedAtOnce = 10;
/** Maximum number of look-ups per record: its group may be solved in another commit meanwhile. */
const maxQuestions = 5;

/** Puts records into groups when the trees of their last screens are there. Each server looks; a record is grouped once. */
class GroupIntake {
  readonly #options: Options;
  readonly #endLooking: () => Promise<void>;
  readonly #looks = new SerialQueue();
  /** A look that has not begun. */
  #nextLook: Promise<void> | undefined;
  #isClosed = false;

  constructor(options: Options) {
    this.#options = options;
    this.#endLooking = periodically(options.faults, lookEveryMs, () => this.look());
  }

  /** Groups all records that are ready. */
  look(): Promise<void> {
    // One look that has not begun is enough for all that is stored by now.
    this.#nextLook ??= this.#looks.run(() => this.#look());
    return this.#nextLook;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#endLooking();
    await this.#looks.whenIdle();
    await this.#options.reader.close();
  }

  async #look(): Promise<void> {
    this.#nextLook = undefined;
    const { store, clock, faults } = this.#options;
    try {
      for (let count = claimedAtOnce; count === claimedAtOnce && !this.#isClosed;) {
        const now = clock.now();
        const claimed = await store.claim(now, now + claimMs, claimedAtOnce);
        for (const grouping of claimed) await this.#group(grouping);
        count = claimed.length;
      }
    } catch (error) {
      faults.report(error, 'records could not be grouped');
    }
  }

  async #group(grouping: Grouping): Promise<void> {
    const { store, onJoined } = this.#options;
    const read = await this.#read(grouping);
    if ('problem' in read) return store.refuse(grouping, read.problem);
    const contained = new Map<string, boolean>();
    for (let questions = 0; questions < maxQuestions; questions += 1) {
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
