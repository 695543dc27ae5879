import { commitRoutes } from '@phalanx/protocol';
import type { FastifyInstance } from 'fastify';

import type { Clock } from '../clock.ts';
import type { Principal } from '../http/principal.ts';
import { pageLimit } from '../http/page.ts';
import { addRoute } from '../http/route.ts';
import { editors, readers, type ProjectAccess } from '../projects/project-access.ts';
import type { ProjectDesk } from '../projects/project-desk.ts';
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
}

/** `POST /automation/commit/:id` · `GET /automation/commits/:id` · `GET /automation/diff/:id` · `POST /automation/revert/:id` */
export function addCommitRoutes(app: FastifyInstance, { access, desk, clock }: CommitRoutesOptions): void {
  const { repositories } = desk;
  const signature = ({ userId, userName }: Principal): Pick<CommitContent, 'author' | 'time'> => ({
    author: { userId, userName },
    time: clock.now(),
  });

  addRoute(app, commitRoutes.commit, async ({ principal, params, body }) => {
    const message = requireMessage(body.message);
    const { id } = await access.getProject(principal, params.id, editors);
    const request = { projectId: id, message, ...signature(principal) };
    return { success: true, commit: await commitChanges(repositories, request) };
  });

  addRoute(app, commitRoutes.list, async ({ principal, params, query }) => {
    const { id } = await access.getProject(principal, params.id, readers);
    const wanted = { cursor: query.cursor, limit: pageLimit(query) };
    const page = await repositories.read(id, (repository) => listCommits(repository, wanted));
    return { success: true, ...page };
  });

  addRoute(app, commitRoutes.diff, async ({ principal, params }) => {
    const { id } = await access.getProject(principal, params.id, readers);
    return { success: true, ...(await repositories.read(id, diffSavedFiles)) };
  });

  addRoute(app, commitRoutes.revert, async ({ principal, params, body }) => {
    const { id } = await access.getProject(principal, params.id, editors);
    const request = { projectId: id, hash: body.hash.toLowerCase(), ...signature(principal) };
    const { commit, replaced } = await revertTo(desk, request);
    const message = `The files are those of commit ${commit.hash} again.`;
    return { success: true, message, commit, replaced };
  });
}
