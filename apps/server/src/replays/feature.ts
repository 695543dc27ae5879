import type { Context } from '../context.ts';
import { ApiError } from '../errors/api-error.ts';
import type { EventFeed } from '../events/event-feed.ts';
import type { Hosts } from '../hosts/feature.ts';
import type { ProjectLaunches } from '../launches/project-launches.ts';
import { isAncestor } from '../git/is-ancestor.ts';
import type { Runs } from '../runs/feature.ts';
import type { Projects } from '../projects/feature.ts';
import type { SharedProject } from '../projects/project-access.ts';
import { emptyTree, isDirty } from '../projects/saved-state.ts';
import type { Records } from '../records/feature.ts';
import { layDraft } from './draft.ts';
import { ReplayChanges } from './replay-view.ts';
import { ReplayHosts } from './replay-hosts.ts';
import { ReplayWorker } from './replay-worker.ts';
import { SequenceReplays } from './sequence-replays.ts';
import { addReplayRoutes, type ReplayedFiles } from './routes.ts';
import { createReplayStore } from './store.ts';

interface Dependencies {
  hosts: Hosts;
  launches: ProjectLaunches;
  projects: Projects;
  records: Pick<Records, 'keptScreens' | 'listReviewers' | 'readSequence' | 'findProjectOf'>;
  runs: Pick<Runs, 'store'>;
  feed: EventFeed;
}

/** Saved screens that hosts replay with the code of projects. */
export function serveReplays(context: Context, dependencies: Dependencies): void {
  const { app, clock, database, faults, limits, log } = context;
  const { launches, projects, records, feed } = dependencies;
  const store = createReplayStore(database);
  const hosts = new ReplayHosts(dependencies.hosts);
  const listReviewers: Records['listReviewers'] = (automation) => records.listReviewers(automation);
  const changes = new ReplayChanges({ listReviewers, feed, log });
  const worker = new ReplayWorker({
    ...{
      keptScreens: records.keptScreens,
      store,
      hosts,
      launches,
      desk: projects.services,
      sequences: new SequenceReplays({
        ...{ hosts, repositories: projects.services.repositories },
        readSequence: (recordId) => records.readSequence(recordId),
        findRun: (runId) => dependencies.runs.store.findDetail(runId),
      }),
      listReviewers,
      changes,
      clock,
      faults,
    },
  });
  app.addHook('onClose', () => worker.close());
  addReplayRoutes(app, {
    ...{ store, access: projects.access, clock },
    findFiles: (project, commit) =>
      limits.turns.git.run(project.owner_id, () => findFiles(projects, project, commit)),
    layDraft: async ({ id: projectId }, draft, userId) => {
      const files = await layDraft(projects.services, projectId, draft);
      await launches.bundle({ ...files, userId });
      return files.treeId;
    },
    findGroup: ({ id: automationId, owner_id: ownerId }, groupId) =>
      records.keptScreens.findGroup({ ownerId, automationId }, groupId),
    hasRecord: async ({ id }, recordId) => (await records.findProjectOf(recordId)) === id,
    requireHost: async ({ id, owner_id: ownerId }) => {
      if (await hosts.isThere(await listReviewers({ ownerId, automationId: id }))) return;
      throw ApiError.of('no_replay_host', { project_id: id });
    },
    onChanged: (replay) => {
      changes.changed(replay);
      void worker.look().catch((error: unknown) => faults.report(error, 'no look at replays'));
    },
  });
}

const findFiles = (
  { services: { repositories } }: Projects,
  { id }: SharedProject,
  wanted: string | undefined,
): Promise<ReplayedFiles> =>
  repositories.read(id, async (repository, state) => {
    if (wanted === undefined) {
      const commit = (await isDirty(repository, state)) ? null : (state.head ?? null);
      return { treeId: state.files ?? emptyTree, commit };
    }
    const commit = (await repository.findInfo(`${wanted.toLowerCase()}^{commit}`))?.id;
    const isOurs =
      commit !== undefined && (await isAncestor(repository, { older: commit, newer: state.head }));
    const treeId = isOurs ? (await repository.findInfo(`${commit}^{tree}`))?.id : undefined;
    if (commit === undefined || treeId === undefined)
      throw ApiError.of('commit_not_found', { hash: wanted, project_id: id });
    return { treeId, commit };
  });
