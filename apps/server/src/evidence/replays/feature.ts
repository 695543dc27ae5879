import type { Context } from '../../http/context.ts';
import { ApiError } from '../../kernel/errors/api-error.ts';
import type { EventFeed } from '../../runs/events/event-feed.ts';
import type { Hosts } from '../../fleet/hosts/feature.ts';
import type { LaunchPreparation } from '../../runs/launches/launch-preparation.ts';
import type { Runs } from '../../runs/runs/feature.ts';
import type { Projects } from '../../code/projects/feature.ts';
import type { Records } from '../records/feature.ts';
import { layDraft } from './draft.ts';
import { ReplayChanges } from './replay-view.ts';
import { ReplayHosts } from './replay-hosts.ts';
import { SequenceReplays } from './sequence-replays.ts';
import { claimMs, ReplayMaker } from './replay-maker.ts';
import { createReplayStore } from './store.ts';
import { findFiles } from './replayed-files.ts';
import { addReplayRoutes } from './routes.ts';

interface Dependencies {
  hosts: Hosts;
  preparation: LaunchPreparation;
  projects: Projects;
  records: Pick<Records, 'keptScreens' | 'listAcceptedReviewers' | 'readSequence' | 'findProjectOf'>;
  runs: Pick<Runs, 'store'>;
  feed: EventFeed;
}

/** Serves replays: hosts replay saved screens with the code of projects. */
export function serveReplays(context: Context, dependencies: Dependencies): void {
  const { app, clock, database, limits, log, timing } = context;
  const { preparation, projects, records, feed } = dependencies;
  const store = createReplayStore(database);
  const hosts = new ReplayHosts(dependencies.hosts);
  // A shared editor's host works for the project only after the editor has accepted it.
  const listHostOwners = records.listAcceptedReviewers;
  const changes = new ReplayChanges({ listAcceptedReviewers: listHostOwners, feed, log });
  const maker = new ReplayMaker({
    keptScreens: records.keptScreens,
    store,
    hosts,
    preparation,
    projectServices: projects.services,
    sequences: new SequenceReplays({
      hosts,
      repositories: projects.services.repositories,
      readSequence: (recordId) => records.readSequence(recordId),
      findRun: (runId) => dependencies.runs.store.findDetail(runId),
    }),
    listHostOwners,
    changes,
    clock,
    hostLookMs: timing.sweepMs,
  });
  context.workers.add({
    kind: 'replay screens',
    // Each user has at most one running replay per cause and server.
    places: { all: 4, lane: 1 },
    claimMs,
    work: (claim, signal) => maker.make(claim, signal),
  });
  addReplayRoutes(app, {
    store,
    access: projects.access,
    clock,
    findFiles: (project, commit) =>
      limits.turns.git.run(project.owner_id, () => findFiles(projects, project, commit)),
    layDraft: async ({ id: projectId }, draft, userId) => {
      const files = await layDraft(projects.services, projectId, draft);
      await preparation.bundle({ ...files, userId });
      return files.treeId;
    },
    findGroup: ({ id: automationId, owner_id: ownerId }, groupId) =>
      records.keptScreens.findGroup({ ownerId, automationId }, groupId),
    hasRecord: async ({ id }, recordId) => (await records.findProjectOf(recordId)) === id,
    requireHost: async ({ id, owner_id: ownerId }) => {
      if (await hosts.isThere(await listHostOwners({ ownerId, automationId: id }))) return;
      throw ApiError.of('no_replay_host', { project_id: id });
    },
    onChanged: (replay) => changes.changed(replay),
  });
}
