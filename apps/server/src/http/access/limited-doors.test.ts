/** Doors that a limited token must find closed. */
import { scopes } from '@phalanx/protocol';
import { v7 as uuidv7 } from 'uuid';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { cloneUrl, runUserGit, TestFolders, TestProject } from '../../code/projects/testing/test-projects.ts';
import { type ApiCaller, type ApiReply, createApiCaller } from '../../testing/api-caller.ts';
import type { TestHost } from '../../testing/test-host.ts';
import { TestServer } from '../../testing/test-server.ts';

let server: TestServer;
let host: TestHost;
let deviceId: string;
let runId: string;
let project: TestProject;
let mallory: Awaited<ReturnType<TestServer['createCaller']>>;
const folders = new TestFolders();

beforeAll(async () => {
  server = await TestServer.start();
  ({ host, deviceId } = await server.connectHost());
  ({ runId } = await server.startRun(host, deviceId));
  project = await TestProject.create(server.api, 'checkout');
  await project.put('main.ts', 'console.log(1);');
  await project.mustCommit('first');
  mallory = await server.createCaller('mallory');
});
afterAll(async () => {
  await host.cut();
  await server.dispose();
  await folders.removeAll();
});

async function limited(limit: object): Promise<{ api: ApiCaller; secret: string }> {
  const { secret } = await server.createToken({ scopes: [...scopes], ...limit });
  return { secret, api: createApiCaller(server.url, secret) };
}

const toProject = (): object => ({ project_ids: [project.id] });

describe('a token of an administrator that is limited to projects', () => {
  it('makes no token of another user, and reads no figures of the service', async () => {
    const { api } = await limited(toProject());
    const member = `/api/v2/automation-project/${project.id}/members/${mallory.userId}`;
    await server.api('PUT', member, { body: { role: 'shared_viewer' } });
    const made = await api('POST', '/api/v2/tokens', { body: { name: 'theirs', user_id: mallory.userId } });
    expect(made.body['code'], made.text).toBe('forbidden');
    expect((await api('GET', '/metrics')).status).toBe(403);
    expect((await server.api('GET', '/metrics')).status).toBe(200);
    await server.api('DELETE', member);
  });
});

describe('a token that is limited to projects', () => {
  it('neither shares, renames nor deletes its project, and takes nobody out of it', async () => {
    const { api } = await limited(toProject());
    const path = `/api/v2/automation-project/${project.id}`;
    const member = `${path}/members/${mallory.userId}`;
    const role = { body: { role: 'shared_editor' } };
    expect((await api('PUT', member, role)).body['code']).toBe('forbidden');
    expect((await api('PATCH', path, { body: { name: 'taken' } })).body['code']).toBe('forbidden');
    expect((await api('DELETE', path)).body['code']).toBe('forbidden');
    await server.api('PUT', member, role);
    expect((await api('DELETE', member)).body['code']).toBe('forbidden');
    const { body } = await api('GET', path);
    expect(body['project']).toMatchObject({ name: 'checkout', members: [{}, { user_id: mallory.userId }] });
    await server.api('DELETE', member);
  });

  it('has no part in what hosts tell and ask over HTTP', async () => {
    const { api } = await limited(toProject());
    for (const reply of await askAsHost(api)) expect(reply.body['code'], reply.text).toBe('forbidden');
  });
});

/** Each request of hosts about the run. */
async function askAsHost(api: ApiCaller): Promise<ApiReply[]> {
  const of = `/api/v2/hosts/runs/${runId}`;
  const raw = { raw: 'a', contentType: 'application/octet-stream' };
  const taken = 'taken_at=1&width=1&height=1&number=1';
  return [
    await api('POST', `${of}/tasks`, { body: { call: 'current' } }),
    await api('PUT', `${of}/files/${uuidv7()}?name=a&content_type=text/csv`, raw),
    await api('PUT', `${of}/film/${uuidv7()}?${taken}`, { raw: 'a', contentType: 'image/jpeg' }),
  ];
}

describe('what hosts tell and ask over HTTP', () => {
  it('is for the token that the host of the run is connected with, and for no other of its user', async () => {
    const other = await limited({});
    for (const reply of await askAsHost(other.api))
      expect(reply.body['code'], reply.text).toBe('run_not_found');
    for (const reply of await askAsHost(server.api))
      expect(['run_not_found', 'forbidden'], reply.text).not.toContain(reply.body['code']);
  });
});

describe('git', () => {
  const git = async (secret: string, ...args: string[]) =>
    runUserGit(folders.make(), [...args, cloneUrl(server, secret, project.id)]);

  it.each([
    ['to phones', { selector: 'serial=none' }],
    ['to apps', { apps: ['com.example.shop'] }],
    ['to a number of phones', { max_phones: 1 }],
  ])('neither fetches nor pushes with a token that is limited %s', async (_, limit) => {
    const { secret } = await limited(limit);
    for (const service of ['git-upload-pack', 'git-receive-pack']) {
      const address = `${server.url}/git/${project.id}.git/info/refs?service=${service}`;
      const reply = await fetch(address, { headers: { authorization: `Bearer ${secret}` } });
      expect([reply.status, await reply.text()]).toEqual([403, expect.stringContaining('is limited to')]);
    }
    const { code, text } = await git(secret, 'clone', '-q');
    expect([code === 0, text]).toEqual([false, expect.stringContaining('403')]);
  });

  it('clones with a token that is limited to the project', async () => {
    const { secret } = await limited(toProject());
    expect(await git(secret, 'clone', '-q')).toMatchObject({ code: 0 });
  });
});
