import { commitRoutes } from '@phalanx/protocol';
import type { FastifyInstance } from 'fastify';

import type { Clock } from '../clock.ts';
import type { Principal } from '../http/principal.ts';
import { pageLimit } from '../http/page.ts';
import { addRoute } from '../http/route.ts';
import type { Limits } from '../limits/limits.ts';
import { deskFor, type ProjectDesk } from '../projects/project-desk.ts';
import { editors, onProject, type ProjectAccess, readers } from '../projects/project-access.ts';
import { commitChanges } from './commit-changes.ts';
import { requireMessage } from './commit-message.ts';
import type { CommitContent } from './create-commit.ts';
import { diffSavedFiles } from './diff.ts';
import { listCommits } from './list-commits.ts';
import { revertTo } from './revert.ts';

interface CommitRoutesOptions {
  access: ProjectAccess;
  desk: ProjectDesk;
  clock: Clock;
  limits: Limits;
}

/** `POST /automation/commit/:id` · `GET /automation/commits/:id` · `GET /automation/diff/:id` · `POST /automation/revert/:id` */
export function addCommitRoutes(
  app: FastifyInstance,
  { access, desk, clock, limits }: CommitRoutesOptions,
): void {
  const { repositories } = desk;
  const signature = ({ userId, userName }: Principal): Pick<CommitContent, 'author' | 'time'> => ({
    author: { userId, userName },
    time: clock.now(),
  });

  addRoute(app, commitRoutes.commit, async ({ principal, params, body, deed }) => {
    const message = requireMessage(body.message);
    const project = await access.getProject(principal, params.id, editors);
    onProject(deed, project);
    const request = { projectId: project.id, message, ...signature(principal) };
    const commit = await commitChanges(repositories, request);
    deed.add({ hash: commit.hash });
    return { success: true, commit };
  });

  addRoute(app, commitRoutes.list, async ({ principal, params, query }) => {
    const { id } = await access.getProject(principal, params.id, readers);
    const wanted = { cursor: query.cursor, limit: pageLimit(query) };
    const page = await limits.turns.git.run(principal.userId, () =>
      repositories.read(id, (repository, state) => listCommits(repository, state, wanted)),
    );
    return { success: true, ...page };
  });

  addRoute(app, commitRoutes.diff, async ({ principal, params }) => {
    const { id } = await access.getProject(principal, params.id, readers);
    const diff = await limits.turns.git.run(principal.userId, () => repositories.read(id, diffSavedFiles));
    return { success: true, ...diff };
  });

  addRoute(app, commitRoutes.revert, async ({ principal, params, body, deed }) => {
    const project = await access.getProject(principal, params.id, editors);
    const hash = body.hash.toLowerCase();
    onProject(deed, project, { hash });
    const request = { projectId: project.id, hash, ...signature(principal) };
    const { commit, replaced } = await revertTo(deskFor(desk, principal.userId), request);
    deed.add({ replaced });
    const message = `The files are those of commit ${commit.hash} again.`;
    return { success: true, message, commit, replaced };
  });
}
