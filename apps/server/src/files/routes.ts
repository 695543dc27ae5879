import type { Confinement } from '@phalanx/confinement';
import { fileRoutes } from '@phalanx/protocol';
import type { FastifyInstance } from 'fastify';

import type { Assistance } from '../compile/compiler.ts';
import type { Principal } from '../http/principal.ts';
import { namesVersion } from '../http/representations.ts';
import { pageLimit, toPage } from '../http/page.ts';
import { addRawRoute, addRoute } from '../http/route.ts';
import type { Limits } from '../limits/limits.ts';
import { deskFor, type ProjectDesk } from '../projects/project-desk.ts';
import { editors, onProject, type ProjectAccess, readers } from '../projects/project-access.ts';
import { acceptLargeBodies, findStagedBody } from './accept-large-bodies.ts';
import { assistFile, checkFile } from './check-file.ts';
import { deleteFile } from './delete-file.ts';
import { requirePath } from './file-path.ts';
import { fileTag, preconditionOf } from './file-version.ts';
import { listProjectFiles } from './list-files.ts';
import { contentOf } from './new-content.ts';
import { getFile, readFileReply } from './read-file.ts';
import { renameFile } from './rename-file.ts';
import { replaceFiles } from './replace-files.ts';
import { writeFile } from './write-file.ts';

interface FileRoutesOptions {
  access: ProjectAccess;
  desk: ProjectDesk;
  confinement: Confinement;
  limits: Limits;
}

interface AssistRequest {
  principal: Principal;
  params: { id: string };
  body: { path: string; content: string; position: number };
}

/** `PUT, GET, DELETE /automation/file/:id` · `POST /automation/{check,symbol,completions,rename}/:id` · `GET, PUT /automation/files/:id` */
export async function addFileRoutes(
  app: FastifyInstance,
  { access, desk, confinement, limits }: FileRoutesOptions,
): Promise<void> {
  const { repositories } = desk;

  await app.register(async (large) => {
    acceptLargeBodies(large, {
      ...{ stagingFolder: repositories.git.stagingFolder, confinement, turns: limits.turns },
      admit: async ({ principal, params }) => {
        const id = typeof params === 'object' && params !== null && 'id' in params ? String(params.id) : '';
        await access.getProject(principal, id, editors);
      },
    });
    addRawRoute(large, fileRoutes.write, async ({ principal, params, body, deed, raw }, reply) => {
      const path = requirePath(body.path);
      const content = contentOf(body.content, findStagedBody(raw));
      const project = await access.getProject(principal, params.id, editors);
      onProject(deed, project, { path });
      const precondition = preconditionOf(raw);
      const { id, ...written } = await writeFile(deskFor(desk, principal.userId), {
        projectId: project.id,
        path,
        content,
        precondition,
      });
      return reply.header('etag', fileTag(id)).send({ success: true, path, ...written });
    });

    addRoute(large, fileRoutes.replace, async ({ principal, params, body, deed, raw }) => {
      const staged = findStagedBody(raw);
      const files = body.files.map(({ path, content }, index) => ({
        path: requirePath(path),
        content: contentOf(content, staged, index),
      }));
      const deleted = body.deleted.map(requirePath);
      const project = await access.getProject(principal, params.id, editors);
      onProject(deed, project, {
        written: firstOf(files.map(({ path }) => path)),
        deleted: firstOf(deleted),
      });
      const change = { projectId: project.id, files, deleted, expected: body.expected_etag };
      return { success: true, ...(await replaceFiles(deskFor(desk, principal.userId), change)) };
    });
  });

  addRawRoute(app, fileRoutes.read, async ({ principal, params, query, raw }, reply) => {
    const path = requirePath(query.path);
    const project = await access.getProject(principal, params.id, readers);
    const found = await getFile(repositories, project.id, path);
    const tag = fileTag(found.id);
    void reply.header('etag', tag).header('cache-control', 'private, no-cache');
    const known = raw.headers['if-none-match'];
    if (known !== undefined && namesVersion(known, tag)) return reply.code(304).send();
    const body = await readFileReply(repositories, project.id, { path, found });
    return reply.type('application/json; charset=utf-8').send(body);
  });

  addRoute(app, fileRoutes.check, async ({ principal, params, body }) => {
    const path = requirePath(body.path);
    const { id } = await access.getProject(principal, params.id, editors);
    const content = contentOf(body.content, undefined);
    return { success: true, ...(await checkFile(desk, { projectId: id, path, content })) };
  });

  const assist = async (
    { principal, params, body }: AssistRequest,
    of: 'symbol' | 'completions',
  ): Promise<Assistance> => {
    const path = requirePath(body.path);
    const { id } = await access.getProject(principal, params.id, editors);
    const content = contentOf(body.content, undefined);
    const { position } = body;
    return assistFile(deskFor(desk, principal.userId), { projectId: id, path, content, position, of });
  };
  addRoute(app, fileRoutes.symbol, async (request) => {
    const { symbol } = await assist(request, 'symbol');
    return { success: true, symbol };
  });
  addRoute(app, fileRoutes.completions, async (request) => {
    const { completions } = await assist(request, 'completions');
    return { success: true, completions };
  });

  addRoute(app, fileRoutes.delete, async ({ principal, params, query, deed, raw }) => {
    const path = requirePath(query.path);
    const project = await access.getProject(principal, params.id, editors);
    onProject(deed, project, { path });
    await deleteFile(desk, { projectId: project.id, path, precondition: preconditionOf(raw) });
    return { success: true, message: `${path} was deleted.` };
  });

  addRoute(app, fileRoutes.rename, async ({ principal, params, body, deed }) => {
    const [from, to] = [requirePath(body.path), requirePath(body.new_path)];
    const { id: projectId, ...project } = await access.getProject(principal, params.id, editors);
    onProject(deed, { id: projectId, ...project }, { path: from, new_path: to });
    return { success: true, ...(await renameFile(deskFor(desk, principal.userId), { projectId, from, to })) };
  });

  addRoute(app, fileRoutes.list, async ({ principal, params, query }) => {
    const project = await access.getProject(principal, params.id, readers);
    const limit = pageLimit(query);
    const { files, dirty, etag } = await repositories.read(project.id, listProjectFiles);
    const rest = files.filter(({ path }) => path > (query.cursor ?? ''));
    const { items, next_cursor } = toPage(rest, limit, ({ path }) => path);
    return { success: true, files: items, dirty, etag, next_cursor };
  });
}

/** How many, and the names of a few. */
const firstOf = (paths: readonly string[]): object => ({ count: paths.length, first: paths.slice(0, 3) });
