import type { Confinement } from '@phalanx/confinement';
import { fileRoutes } from '@phalanx/protocol';
import type { FastifyInstance } from 'fastify';
import type { PlaceInCode } from '../compile/compiler.ts';
import type { Assistance } from '../compile/process/messages.ts';
import { findCompiledPath } from '../compile/source-paths.ts';
import { findAt, withEntry } from '../git/tree-paths.ts';
import { ApiError } from '../../kernel/errors/api-error.ts';
import { readPage } from '../../http/requests/replies/page.ts';
import type { Principal } from '../../http/requests/principal.ts';
import { namesVersion } from '../../http/requests/replies/representations.ts';
import { addRawRoute, addRoute } from '../../http/requests/route.ts';
import type { Limits } from '../../kernel/limits/limits.ts';
import { editors, onProject, type ProjectAccess, readers } from '../projects/project-access.ts';
import type { SharedServices } from '../projects/project-files.ts';
import { acceptLargeBodies, findStagedBody } from './large-body/stage-body.ts';
import { assistFile, checkFile } from './review-file.ts';
import { treeOfCommit, getFile, readFileReply } from './read-files.ts';
import { listCommitFiles, listProjectFiles } from './list-files.ts';
import { searchFiles } from './search-files.ts';
import { requirePath, findSourceOf } from './file-path.ts';
import { fileTag, preconditionOf, requireVersion, type Precondition } from './file-version.ts';
import { contentOf } from './new-content.ts';
import { replaceFiles } from './replace-files.ts';
import { renameFile } from './rename-file.ts';
import { writeFile, findFile } from './write-file.ts';

interface FileRoutesOptions {
  access: ProjectAccess;
  projectServices: SharedServices;
  confinement: Confinement;
  limits: Limits;
}

interface AssistRequest {
  principal: Principal;
  params: { id: string };
  body: { path: string; content: string; position: number };
}

/**
 * `PUT, GET, DELETE /automation/file/:id` · `POST /automation/{check,symbol,completions,references,rename}/:id` ·
 * `GET, PUT /automation/files/:id`
 */
export async function addFileRoutes(
  app: FastifyInstance,
  { access, projectServices, confinement, limits }: FileRoutesOptions,
): Promise<void> {
  const { repositories } = projectServices;

  await app.register(async (large) => {
    acceptLargeBodies(large, {
      stagingFolder: repositories.git.stagingFolder,
      confinement,
      turns: limits.turns,
      admit: async ({ principal, params }) => {
        const id = typeof params === 'object' && params !== null && 'id' in params ? String(params.id) : '';
        await access.getProject(principal, id, editors);
      },
    });
    addRawRoute(large, fileRoutes.write, async ({ principal, params, body, auditEvent, raw }, reply) => {
      const path = requirePath(body.path);
      const content = contentOf(body.content, findStagedBody(raw));
      const project = await access.getProject(principal, params.id, editors);
      onProject(auditEvent, project, { path });
      const precondition = preconditionOf(raw);
      const { id, ...written } = await writeFile(projectServices.forUser(principal.userId), {
        projectId: project.id,
        path,
        content,
        precondition,
      });
      return reply.header('etag', fileTag(id)).send({ success: true, path, ...written });
    });

    addRoute(large, fileRoutes.replace, async ({ principal, params, body, auditEvent, raw }) => {
      const staged = findStagedBody(raw);
      const files = body.files.map(({ path, content }, index) => ({
        path: requirePath(path),
        content: contentOf(content, staged, index),
      }));
      const deleted = body.deleted.map(requirePath);
      const project = await access.getProject(principal, params.id, editors);
      onProject(auditEvent, project, {
        written: firstOf(files.map(({ path }) => path)),
        deleted: firstOf(deleted),
      });
      const change = { projectId: project.id, files, deleted, expected: body.expected_etag };
      return {
        success: true,
        ...(await replaceFiles(projectServices.forUser(principal.userId), change)),
      };
    });
  });

  addRawRoute(app, fileRoutes.read, async ({ principal, params, query, raw }, reply) => {
    const path = requirePath(query.path);
    const project = await access.getProject(principal, params.id, readers);
    const wanted = { path, commit: query.commit, tree: query.tree };
    const read = () => getFile(repositories, project.id, wanted);
    const found = await (query.commit === undefined ? read() : limits.turns.git.run(principal.userId, read));
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
    return {
      success: true,
      ...(await checkFile(projectServices.forUser(principal.userId), { projectId: id, path, content })),
    };
  });

  const assist = async (
    { principal, params, body }: AssistRequest,
    of: PlaceInCode['of'],
  ): Promise<Assistance> => {
    const path = requirePath(body.path);
    const { id } = await access.getProject(principal, params.id, editors);
    const content = contentOf(body.content, undefined);
    const { position } = body;
    return assistFile(projectServices.forUser(principal.userId), {
      projectId: id,
      path,
      content,
      position,
      of,
    });
  };
  addRoute(app, fileRoutes.symbol, async (request) => {
    const { symbol } = await assist(request, 'symbol');
    return { success: true, symbol };
  });
  addRoute(app, fileRoutes.completions, async (request) => {
    const { completions } = await assist(request, 'completions');
    return { success: true, completions };
  });

  addRoute(app, fileRoutes.references, async (request) => {
    const { references } = await assist(request, 'references');
    return { success: true, ...references };
  });

  addRoute(app, fileRoutes.search, async ({ principal, params, query }) => {
    const project = await access.getProject(principal, params.id, readers);
    const found = await limits.turns.git.run(principal.userId, () =>
      repositories.read(project.id, (repository, state) => searchFiles(repository, state, query.text)),
    );
    return { success: true, ...found };
  });

  addRoute(app, fileRoutes.delete, async ({ principal, params, query, auditEvent, raw }) => {
    const path = requirePath(query.path);
    const project = await access.getProject(principal, params.id, editors);
    onProject(auditEvent, project, { path });
    await deleteFile(projectServices, { projectId: project.id, path, precondition: preconditionOf(raw) });
    return { success: true, message: `${path} was deleted.` };
  });

  addRoute(app, fileRoutes.rename, async ({ principal, params, body, auditEvent }) => {
    const [from, to] = [requirePath(body.path), requirePath(body.new_path)];
    const { id: projectId, ...project } = await access.getProject(principal, params.id, editors);
    onProject(auditEvent, { id: projectId, ...project }, { path: from, new_path: to });
    return {
      success: true,
      ...(await renameFile(projectServices.forUser(principal.userId), { projectId, from, to })),
    };
  });

  addRoute(app, fileRoutes.list, async ({ principal, params, query }) => {
    const project = await access.getProject(principal, params.id, readers);
    const { commit } = query;
    const { files, dirty, etag } =
      commit === undefined
        ? await repositories.read(project.id, listProjectFiles)
        : await limits.turns.git.run(principal.userId, () =>
            repositories.read(project.id, async (repository, state) =>
              listCommitFiles(
                repository,
                await treeOfCommit(repository, state, { commit, projectId: project.id }),
              ),
            ),
          );
    const { items, next_cursor } = await readPage(
      query,
      ({ cursor = '' }) => files.filter(({ path }) => path > cursor),
      ({ path }) => path,
    );
    return { success: true, files: items, dirty, etag, next_cursor };
  });
}

/** Returns the number of paths and the first three. */
const firstOf = (paths: readonly string[]): object => ({ count: paths.length, first: paths.slice(0, 3) });

/** Deletes a file and its compiled file in one change. The change is durable when the promise resolves. */
function deleteFile(
  projectServices: SharedServices,
  { projectId, path, precondition }: { projectId: string; path: string; precondition: Precondition },
): Promise<void> {
  return projectServices.repositories.write(projectId, async (draft, change) => {
    const { state } = change;
    const source = await findSourceOf(draft, state, path);
    if (source !== undefined) throw ApiError.of('compiled_file', { path, source });
    const found = await findAt(draft, state.files, path);
    if (found.kind === 'folder')
      throw ApiError.of('invalid_path', { problem: `"${path}" is a folder: delete the files in it` });
    if (found.kind !== 'file') throw ApiError.of('file_not_found', { path, project_id: projectId });
    await requireVersion(draft, { state, path, precondition });
    const sizeBytes = (await findFile(draft, state.files, path))?.sizeBytes ?? 0;
    const totals = await projectServices.totals.requireRoom(draft, state.files, {
      files: -1,
      bytes: -sizeBytes,
    });
    const files = await withEntry(draft, state.files, path, undefined);
    const compiledPath = findCompiledPath(path);
    const compiled =
      compiledPath === undefined || (await findAt(draft, state.compiled, compiledPath)).kind !== 'file'
        ? state.compiled
        : await withEntry(draft, state.compiled, compiledPath, undefined);
    change.save({ files, compiled, head: state.head });
    projectServices.totals.remember(files, totals);
  });
}
