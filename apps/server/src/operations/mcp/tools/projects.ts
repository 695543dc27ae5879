import { commitRoutes, fileRoutes, projectRoutes } from '@phalanx/protocol';
import { Type } from 'typebox';
import { type ApiCalls, acting, changing, defineTool, fenced, reading, type Tool } from '../tool.ts';

export const exampleId = '01a1ff14-6b1c-7c33-9d1a-0f2a6a3c5e77';
export const project = Type.String({ maxLength: 100, description: 'Project ID', examples: [exampleId] });
export const filePath = Type.String({
  maxLength: 1024,
  description: 'Such as main.ts',
  examples: ['main.ts'],
});
export const NewFile = Type.Object({
  path: filePath,
  content: Type.String({ maxLength: 1_000_000, examples: ["console.log('here');\n"] }),
});
export const maxFiles = 50;
const maxListed = 200;

async function listFiles(api: ApiCalls, id: string): Promise<string> {
  const { files, etag, dirty, next_cursor } = await api.call(fileRoutes.list, {
    params: { id },
    query: { limit: maxListed },
  });
  const lines = files.map(
    ({ path, size, change }) => `${path} ${size} bytes${change === 'unchanged' ? '' : ` ${change}`}`,
  );
  const more = next_cursor === null ? [] : [`only the first ${maxListed} are listed`];
  const state = dirty ? 'with changes that are not committed' : 'all committed';
  return [`etag ${etag}, ${state}`, fenced('files', [...lines, ...more].join('\n'))].join('\n');
}

/** Returns the errors and warnings that writing these files would cause. */
async function check(
  api: ApiCalls,
  id: string,
  files: readonly { path: string; content: string }[],
): Promise<string[]> {
  const lines: string[] = [];
  for (const { path, content } of files) {
    const { errors, warnings } = await api.call(fileRoutes.check, {
      params: { id },
      body: { path, content },
    });
    lines.push(...errors, ...warnings);
  }
  return lines;
}

export const projectTools: readonly Tool[] = [
  defineTool({
    name: 'list_projects',
    title: 'List projects',
    description: 'A line for each project: ID, name, your role.',
    scopes: ['read'],
    hints: reading,
    input: Type.Object({ search: Type.Optional(Type.String({ maxLength: 200 })) }),
    run: async (api, { search }) => {
      const { projects, next_cursor } = await api.call(projectRoutes.list, { query: { search, limit: 100 } });
      const lines = projects.map(
        ({ id, name, role, accepted }) =>
          `${id} ${JSON.stringify(name)} ${role}${accepted ? '' : ', shared, not accepted'}`,
      );
      const more = next_cursor === null ? [] : ['There are more: search for the name.'];
      return [lines.length === 0 ? 'No project fits.' : fenced('projects', lines.join('\n')), ...more];
    },
  }),
  defineTool({
    name: 'read_project',
    title: 'Read a project',
    description: 'Its files and their etag, or the file at path.',
    scopes: ['read'],
    hints: reading,
    input: Type.Object({ project, path: Type.Optional(filePath) }),
    run: async (api, { project: id, path }) => {
      if (path === undefined) return [await listFiles(api, id)];
      const { content } = await api.call(fileRoutes.read, { params: { id }, query: { path } });
      return [fenced(`file ${JSON.stringify(path)}`, content)];
    },
  }),
  defineTool({
    name: 'create_project',
    title: 'Create a project',
    description: 'Makes an empty project.',
    scopes: ['edit'],
    hints: changing,
    input: Type.Object({ name: Type.String({ minLength: 1, maxLength: 200 }) }),
    run: async (api, { name }) => {
      const { project: made } = await api.call(projectRoutes.create, { body: { name } });
      return [`project ${made.id}`];
    },
  }),
  defineTool({
    name: 'write_project',
    title: 'Write a project',
    description:
      'Writes and deletes files, all or nothing; TypeScript is checked. dry_run: saves nothing. etag: refused if the files have changed since.',
    scopes: ['read', 'edit'],
    hints: acting,
    input: Type.Object({
      project,
      files: Type.Array(NewFile, { maxItems: maxFiles }),
      deleted: Type.Optional(Type.Array(filePath, { maxItems: maxFiles })),
      etag: Type.Optional(Type.String({ maxLength: 100 })),
      dry_run: Type.Optional(Type.Boolean()),
    }),
    run: async (api, { project: id, files, deleted = [], etag, dry_run = false }) => {
      if (dry_run) {
        const lines = await check(api, id, files);
        return [
          lines.length === 0 ? 'No mistakes. Nothing was written.' : fenced('mistakes', lines.join('\n')),
        ];
      }
      const params = { id };
      const expected_etag = etag ?? (await api.call(fileRoutes.list, { params, query: { limit: 1 } })).etag;
      const body = { files, deleted, expected_etag };
      const written = await api.call(fileRoutes.replace, { params, body });
      const { warnings } = written;
      return [
        `Written. etag ${written.etag}`,
        ...(warnings.length === 0 ? [] : [fenced('warnings', warnings.join('\n'))]),
      ];
    },
  }),
  defineTool({
    name: 'commit_project',
    title: 'Commit a project',
    description: 'Commits all changes.',
    scopes: ['edit'],
    hints: changing,
    input: Type.Object({ project, message: Type.String({ minLength: 1, maxLength: 1000 }) }),
    run: async (api, { project: id, message }) => {
      const { commit } = await api.call(commitRoutes.commit, { params: { id }, body: { message } });
      return [`commit ${commit.hash}`];
    },
  }),
];
