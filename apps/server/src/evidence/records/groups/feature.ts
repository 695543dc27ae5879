import { addBackgroundJob } from '../../../storage/background-job.ts';
import { forEachItem } from '../../../storage/for-each-item.ts';
import type { Worker } from '../../../storage/worker.ts';
import type { Captures } from '../../../runs/captures/captures.ts';
import type { Context } from '../../../http/context.ts';
import type { EventFeed } from '../../../runs/events/event-feed.ts';
import type { Projects } from '../../../code/projects/feature.ts';
import type { AutomationAccess } from '../access-store.ts';
import type { RecordChanges } from '../record-changes.ts';
import type { CaptureUrl } from '../record-view.ts';
import type { RecordStore } from '../store.ts';
import { createGroupChangeStore } from './change-store.ts';
import type { Solving } from '../../../code/commits/solving.ts';
import { createCommitHistory, createSolving, markSolved } from './solving.ts';
import { GroupChanges } from './group-changes.ts';
import { createGroupViews } from './group-view.ts';
import { findNewestVerdict, createGroupStore } from './store.ts';
import { groupRecords } from './enqueue-grouping.ts';
import { createJoiningStore } from './joining-store.ts';
import { createMarkingStore, markRecords } from './marking-store.ts';
import { deleteKeptScreen, listKeptNames } from './prints/kept-screens-store.ts';
import { PrintReader } from './prints/print-process.ts';
import { addGroupRoutes } from './routes.ts';
import { RecordGrouper } from './record-grouper.ts';
import { minuteMs, hourMs, dayMs } from '@phalanx/timing/durations';

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
/** Lease of a step of marking. */
const markingMs = 10_000;
/** Lease of claimed records. A killed server blocks its records for this long. */
const groupingMs = 10_000;

/** Serves groups of records that show the same screen. */
export function serveGroups(context: Context, dependencies: GroupDependencies): Solving {
  const { app, clock, confinement, database, limits, log } = context;
  const { store: records, access, captures, captureUrl, feed, projects } = dependencies;
  const store = createGroupStore(database);
  const views = createGroupViews({ database, store, access, captureUrl });
  const changes = new GroupChanges({ access, views, feed, log });
  const history = createCommitHistory(projects.services.repositories, limits);
  const marking = addMarking(context, dependencies.changes);
  const finish = (moveId: string): Promise<void> => marking.whenEnded(moveId);
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
  const marker = context.workers.add({
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
  addGrouping(context, {
    store: createJoiningStore(database),
    captures,
    reader: new PrintReader(confinement),
    history,
    onJoined: (group) => changes.changed(group),
  });
  return { ...solving, mark: () => marker.whenDone() };
}

/** Adds the worker that groups records. One server groups a record, and each server groups one record at a time. */
function addGrouping(context: Context, options: ConstructorParameters<typeof RecordGrouper>[0]): void {
  const grouper = new RecordGrouper(options);
  // `onClose` hooks run in reverse order: when this one runs, no print is being made any more.
  context.app.addHook('onClose', () => options.reader.close());
  context.workers.add({
    kind: groupRecords,
    places: { all: 1, lane: 1 },
    itemsOfClaim: 10,
    claimMs: groupingMs,
    work: (claim, signal) => forEachItem(claim, signal, (item, own) => grouper.group(item, own)),
  });
}

/** Adds the worker that marks the records of changed groups. */
function addMarking(context: Context, changes: RecordChanges): Worker {
  const { clock, database } = context;
  const marking = createMarkingStore(database);
  return context.workers.add({
    kind: markRecords,
    places: { all: 8, lane: 2 },
    claimMs: markingMs,
    work: async (claim, signal) => {
      for (const { key } of claim.items)
        for (let isLast = false; !isLast;) {
          signal.throwIfAborted();
          const step = await marking.step(key, claim, clock.now() + markingMs);
          for (const record of step.changed) changes.changed(record);
          ({ isLast } = step);
        }
    },
  });
}
