import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { createApiCaller, type ApiCaller, type ApiReply } from '../../testing/api-caller.ts';
import { TestServer } from '../../testing/test-server.ts';
import { TestProject } from './testing/test-projects.ts';

/** Endpoint with a body that would be accepted from the owner. */
interface Endpoint {
  does: string;
  method: string;
  path: string;
  body?: unknown;
}

const callers = [
  'nobody',
  'stranger',
  'administrator',
  'viewer',
  'editor',
  'owner',
  'owner, token without the scope edit',
  'owner, token without the scope read',
  'owner, token for this project',
  'owner, token for another project',
] as const;
type Caller = (typeof callers)[number];

const reading: Record<Caller, number> = {
  nobody: 401,
  stranger: 404,
  administrator: 404,
  viewer: 200,
  editor: 200,
  owner: 200,
  'owner, token without the scope edit': 200,
  'owner, token without the scope read': 403,
  'owner, token for this project': 200,
  'owner, token for another project': 404,
};
const writing: Record<Caller, number> = {
  ...reading,
  viewer: 404,
  'owner, token without the scope edit': 403,
  'owner, token without the scope read': 200,
};
const owning: Record<Caller, number> = {
  ...writing,
  viewer: 403,
  editor: 403,
  'owner, token for this project': 403,
  'owner, token for another project': 403,
};
const created = (statuses: Record<Caller, number>): Record<Caller, number> => ({
  ...statuses,
  ...Object.fromEntries(
    Object.entries(statuses).flatMap(([name, status]) => (status === 200 ? [[name, 201]] : [])),
  ),
});

const file = '/api/v2/automation/file/:id';
const endpoints: readonly (Endpoint & { statuses: Record<Caller, number> })[] = [
  { does: 'reads a file', method: 'GET', path: `${file}?path=main.txt`, statuses: reading },
  { does: 'lists the files', method: 'GET', path: '/api/v2/automation/files/:id', statuses: reading },
  { does: 'lists the commits', method: 'GET', path: '/api/v2/automation/commits/:id', statuses: reading },
  {
    does: 'searches the files',
    method: 'GET',
    path: '/api/v2/automation/search/:id?text=x',
    statuses: reading,
  },
  { does: 'reads the diff', method: 'GET', path: '/api/v2/automation/diff/:id', statuses: reading },
  { does: 'reads the project', method: 'GET', path: '/api/v2/automation-project/:id', statuses: reading },
  {
    does: 'writes a file',
    method: 'PUT',
    path: file,
    body: { path: 'main.txt', content: 'written' },
    statuses: writing,
  },
  { does: 'deletes a file', method: 'DELETE', path: `${file}?path=doomed.txt`, statuses: writing },
  {
    does: 'commits',
    method: 'POST',
    path: '/api/v2/automation/commit/:id',
    body: { message: 'a commit' },
    statuses: created(writing),
  },
  {
    does: 'reverts',
    method: 'POST',
    path: '/api/v2/automation/revert/:id',
    body: { hash: ':first' },
    statuses: writing,
  },
  {
    does: 'renames the project',
    method: 'PATCH',
    path: '/api/v2/automation-project/:id',
    body: { name: 'Renamed :id' },
    statuses: owning,
  },
  {
    does: 'shares the project',
    method: 'PUT',
    path: '/api/v2/automation-project/:id/members/:stranger',
    body: { role: 'shared_viewer' },
    statuses: owning,
  },
  { does: 'deletes the project', method: 'DELETE', path: '/api/v2/automation-project/:id', statuses: owning },
];

let server: TestServer;
let owner: { userId: string; api: ApiCaller };
let others: Record<'stranger' | 'viewer' | 'editor', { userId: string; api: ApiCaller }>;
let project: TestProject;
let firstCommit: string;

async function makeProject(): Promise<void> {
  project = await TestProject.create(owner.api);
  await project.put('main.txt', 'first');
  await project.put('doomed.txt', 'first');
  firstCommit = await project.mustCommit();
  await project.put('main.txt', 'second');
  for (const [user, role] of [
    [others.viewer, 'shared_viewer'],
    [others.editor, 'shared_editor'],
  ] as const)
    await owner.api('PUT', `/api/v2/automation-project/${project.id}/members/${user.userId}`, {
      body: { role },
    });
}

beforeAll(async () => {
  server = await TestServer.start();
  owner = await server.createCaller('owner');
  others = {
    stranger: await server.createCaller('stranger'),
    viewer: await server.createCaller('viewer'),
    editor: await server.createCaller('editor'),
  };
  await makeProject();
});
afterAll(() => server.dispose());

async function callerOf(caller: Caller): Promise<ApiCaller> {
  const withToken = async (fields: Record<string, unknown>): Promise<ApiCaller> => {
    const { secret } = await server.createToken({ user_id: owner.userId, ...fields });
    return createApiCaller(server.url, secret);
  };
  if (caller === 'nobody')
    return (method, path, request) => server.api(method, path, { ...request, token: null });
  if (caller === 'administrator') return server.api;
  if (caller === 'owner') return owner.api;
  if (caller === 'stranger' || caller === 'viewer' || caller === 'editor') return others[caller].api;
  if (caller === 'owner, token without the scope edit') return withToken({ scopes: ['read', 'launch'] });
  if (caller === 'owner, token without the scope read') return withToken({ scopes: ['edit'] });
  const projectId =
    caller === 'owner, token for this project' ? project.id : await server.createProject(owner.api);
  return withToken({ project_ids: [projectId], scopes: ['read', 'edit'] });
}

function filled(text: string): string {
  return text
    .replace(':id', project.id)
    .replace(':stranger', others.stranger.userId)
    .replace(':first', firstCommit);
}

describe.each(endpoints)('$method $path', ({ does, method, path, body, statuses }) => {
  const ask = (api: ApiCaller, of: string): Promise<ApiReply> => {
    const text = body === undefined ? undefined : filled(JSON.stringify(body));
    return api(method, of, text === undefined ? {} : { raw: text });
  };

  it(`answers each caller when it ${does}`, async () => {
    await makeProject();
    // Starts with refused callers, because they change nothing for the next one.
    const isRefused = (caller: Caller): boolean => statuses[caller] >= 300;
    for (const caller of callers.toSorted(
      (one, other) => Number(isRefused(other)) - Number(isRefused(one)),
    )) {
      if (!isRefused(caller) && method !== 'GET') await makeProject();
      const reply = await ask(await callerOf(caller), filled(path));
      expect([caller, reply.status, reply.body['success'], reply.text]).toEqual([
        caller,
        statuses[caller],
        !isRefused(caller),
        expect.any(String),
      ]);
      if (isRefused(caller)) expect(await project.content('main.txt'), caller).toBe('second');
    }
  });

  it(`answers 404 for a project that does not exist when it ${does}`, async () => {
    const reply = await ask(owner.api, filled(path.replace(':id', crypto.randomUUID())));
    expect([reply.status, reply.body['code']]).toEqual([404, 'project_not_found']);
  });
});

describe('lists of projects', () => {
  it('show each caller their own and the shared ones with their role, newest first', async () => {
    const ben = await server.createCaller('ben');
    const first = await TestProject.create(ben.api, 'First');
    const second = await TestProject.create(ben.api, 'Second');
    await ben.api('PUT', `/api/v2/automation-project/${first.id}/members/${others.viewer.userId}`, {
      body: { role: 'shared_viewer' },
    });
    const own = await ben.api('GET', '/api/v2/automation-project');
    expect(own.body['projects']).toMatchObject([
      { id: second.id, role: 'owner' },
      { id: first.id, role: 'owner' },
    ]);
    const shared = await others.viewer.api('GET', '/api/v2/automation-project');
    expect(shared.body['projects']).toContainEqual(
      expect.objectContaining({ id: first.id, role: 'shared_viewer' }),
    );
  });

  it('leave out what a limited token may not touch, and such a token creates nothing', async () => {
    await makeProject();
    const api = await callerOf('owner, token for this project');
    const list = await api('GET', '/api/v2/automation-project');
    expect(list.body['projects']).toMatchObject([{ id: project.id }]);
    const reply = await api('POST', '/api/v2/automation-project', { body: { name: 'More' } });
    expect(reply.status).toBe(403);
  });

  it('come in pages that hold every project once', async () => {
    const ann = await server.createCaller('ann');
    const ids = new Set<string>();
    for (let count = 0; count < 13; count += 1) ids.add((await TestProject.create(ann.api)).id);
    const list = (query: string) => ann.api('GET', `/api/v2/automation-project?limit=10${query}`);
    const first = await list('');
    const second = await list(`&cursor=${String(first.body['next_cursor'])}`);
    const listed = [first, second].flatMap(({ body }) => body['projects'] as { id: string }[]);
    expect([listed.length, new Set(listed.map(({ id }) => id))]).toEqual([13, ids]);
    expect(second.body['next_cursor']).toBeNull();
  });
});

describe('members of a project', () => {
  it('are listed with names and roles, change roles, and may leave', async () => {
    await makeProject();
    const path = `/api/v2/automation-project/${project.id}`;
    const { body } = await others.viewer.api('GET', path);
    expect(body['project']).toMatchObject({
      role: 'shared_viewer',
      members: [
        { user_id: owner.userId, name: 'owner', role: 'owner' },
        ...[others.viewer, others.editor].map(({ userId }) => ({ user_id: userId })),
      ],
    });
    await owner.api('PUT', `${path}/members/${others.viewer.userId}`, { body: { role: 'shared_editor' } });
    expect((await project.as(others.viewer.api).write('main.txt', 'by the new editor')).status).toBe(200);
    expect((await others.viewer.api('DELETE', `${path}/members/${others.viewer.userId}`)).status).toBe(200);
    expect((await others.viewer.api('GET', path)).status).toBe(404);
  });

  it('can be neither the owner nor someone unknown', async () => {
    await makeProject();
    const members = `/api/v2/automation-project/${project.id}/members`;
    const body = { role: 'shared_viewer' };
    expect((await owner.api('PUT', `${members}/${owner.userId}`, { body })).status).toBe(400);
    expect((await owner.api('PUT', `${members}/${crypto.randomUUID()}`, { body })).status).toBe(404);
    expect((await owner.api('DELETE', `${members}/${others.stranger.userId}`)).status).toBe(404);
    expect(
      (await owner.api('PUT', `${members}/${others.stranger.userId}`, { body: { role: 'owner' } })).status,
    ).toBe(400);
  });
});

describe('names of projects', () => {
  it.each(['', '   ', 'a\u0000b', 'line\nbreak', '\ud800', 'x'.repeat(201)])(
    'can not be %j',
    async (name) => {
      const reply = await owner.api('POST', '/api/v2/automation-project', { body: { name } });
      expect([reply.status, reply.body['message']]).toEqual([400, expect.stringContaining('name')]);
    },
  );
});
