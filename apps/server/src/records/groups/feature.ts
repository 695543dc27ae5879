import { addBackgroundJob } from '../../background-job.ts';
import type { Captures } from '../../captures/captures.ts';
import type { Context } from '../../context.ts';
import type { EventFeed } from '../../events/event-feed.ts';
import type { Projects } from '../../projects/feature.ts';
import type { AutomationAccess } from '../access-store.ts';
import type { RecordChanges, CaptureUrl } from '../record-view.ts';
import type { RecordStore } from '../store.ts';
import { createGroupChangeStore } from './change-store.ts';
import { createCommitHistory } from './commit-history.ts';
import { GroupChanges, createGroupViews } from './group-view.ts';
import { findNewestVerdict, createGroupStore } from './store.ts';
import { GroupIntake } from './group-intake.ts';
import { createJoiningStore } from './joining-store.ts';
import { createMarkingStore } from './marking-store.ts';
import { deleteKeptScreen, listKeptNames } from './prints/kept-screens-store.ts';
import { PrintReader } from './prints/print-process.ts';
import { addGroupRoutes } from './routes.ts';
import { createSolving, type Solving } from './solving.ts';

export interface GroupDependencies {
  store: RecordStore;
  access: AutomationAccess;
  captures: Captures;
  captureUrl: CaptureUrl;
  changes: RecordChanges;
  feed: EventFeed;
  projects: Projects;
}

const hourMs = 60 * 60 * 1000;
const dayMs = 24 * hourMs;
const emptyGroupsKeptMs = 180 * dayMs;
const undoKeptMs = 60 * dayMs;
/** A server that marks records is at it for less. */
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
  const solving = createSolving({
    ...{ database, store, changeStore, access, clock },
    onMarked: async ({ groups, move }) => {
      if (move !== null) await finish(move);
      for (const group of groups) changes.changed(group);
    },
  });
  addBackgroundJob(context, {
    name: 'mark groups that commits solve',
    everyMs: markingMs,
    atStart: true,
    work: () => solving.mark(),
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
    ...{ store: createJoiningStore(database), captures, reader: new PrintReader(confinement), history },
    ...{ onJoined: (group) => changes.changed(group), clock, faults },
  });
  app.addHook('onReady', async () => void intake.look());
  app.addHook('onClose', () => intake.close());
  return { look: () => void intake.look(), solving };
}

/** Returns what marks the records of a change. What a server that is gone has left is done by another one. */
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
