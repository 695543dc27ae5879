import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { isOnServers, openTablesOf } from '../../testing/engines/test-database.ts';
import { TestProject } from '../../code/projects/testing/test-projects.ts';
import { createApiCaller, type ApiCaller } from '../../testing/api-caller.ts';
import { TestHost } from '../../testing/test-host.ts';
import { stringAt } from '../../testing/string-at.ts';
import { adminToken, TestServer } from '../../testing/test-server.ts';
import { readEntries } from './testing/audit-reader.ts';

let server: TestServer;

beforeEach(async () => {
  const settings = { PHALANX_AUDIT_DAYS: '30', PHALANX_BAD_TOKENS_PER_MINUTE: '100' };
  server = await TestServer.start({ settings });
});
afterEach(() => server.dispose());

/** The administrator, and the token that the environment gives. */
const ofTheStart = ['create_token', 'create_user'];

const actionsOf = async (api: ApiCaller, query: Record<string, string> = {}): Promise<string[]> =>
  (await readEntries(api, query)).map(({ action }) => action);

describe('the audit log', () => {
  it('shows administrators everything, and others what they did and what was done to what is theirs', async () => {
    const ann = await server.createCaller('ann');
    const bob = await server.createCaller('bob');
    const eve = await server.createCaller('eve');
    const project = await TestProject.create(ann.api);
    await ann.api('PUT', `/api/v2/automation-project/${project.id}/members/${bob.userId}`, {
      body: { role: 'shared_editor' },
    });
    await project.as(bob.api).put('readme.md', 'hello');
    expect(await actionsOf(ann.api)).toEqual([
      'write_file',
      'share_project',
      'create_project',
      'create_token',
      'create_user',
    ]);
    expect((await readEntries(ann.api))[0]).toMatchObject({ user: { id: bob.userId, name: 'bob' } });
    expect(await actionsOf(bob.api)).toEqual(['write_file', 'share_project', 'create_token', 'create_user']);
    expect(await actionsOf(eve.api)).toEqual(['create_token', 'create_user']);
    expect(await actionsOf(server.api)).toHaveLength(11);
    const limited = await server.createToken({ project_ids: [project.id], user_id: ann.userId });
    const onlyProject = createApiCaller(server.url, limited.secret);
    expect(await actionsOf(onlyProject)).toEqual(['write_file', 'share_project', 'create_project']);
    const withoutScope = await server.createToken({ scopes: ['read'] });
    expect(await actionsOf(createApiCaller(server.url, withoutScope.secret))).not.toContain('write_file');
  });

  it('shows the address that a trusted proxy forwards for, and no other', async () => {
    const name = (): string => crypto.randomUUID();
    const post = (headers: Record<string, string>, body: object) =>
      server.api('POST', '/api/v2/users', { headers, body });
    await post({ 'x-forwarded-for': '203.0.113.7' }, { name: name() });
    const newest = async () => (await readEntries(server.api))[0]?.address;
    expect(await newest()).toBe('203.0.113.7');
    await post({ 'x-forwarded-for': '2001:db8::1:2' }, { name: name() });
    expect(await newest()).toBe('2001:db8::1:2');
    await server.dispose();
    server = await TestServer.start({ settings: { PHALANX_TRUSTED_PROXIES: 'none' } });
    await post({ 'x-forwarded-for': '203.0.113.7' }, { name: name() });
    expect(await newest()).toBe('127.0.0.1');
  });

  it('is found by user, action, subject, outcome and time, page by page', async () => {
    const ann = await server.createCaller('ann');
    const project = await TestProject.create(ann.api);
    for (let file = 0; file < 5; file++) await project.put(`${file}.txt`, 'a');
    server.clock.advance(60_000);
    const since = String(server.clock.now());
    await project.put('late.txt', 'a');
    server.clock.advance(60_000);
    const until = new Date(server.clock.now()).toISOString();
    await ann.api('POST', '/api/v2/automation-project', { body: { name: 'other' } });
    expect(await actionsOf(server.api, { action: 'write_file', limit: '2' })).toHaveLength(6);
    expect(await actionsOf(server.api, { user_id: ann.userId, action: 'create_project' })).toHaveLength(2);
    expect(await actionsOf(server.api, { subject_id: project.id })).toHaveLength(7);
    expect(await actionsOf(server.api, { outcome: 'refused' })).toEqual([]);
    expect(await actionsOf(ann.api, { since, until })).toEqual(['write_file']);
    const { body } = await ann.api('GET', '/api/v2/audit?since=yesterday');
    expect(body['code']).toBe('invalid_request');
  });

  it('ends a page early, and says where to go on, when little of what is looked at fits', async () => {
    const user = await server.createCaller('ann');
    const project = await TestProject.create(user.api);
    await server.close();
    const database = await openTablesOf(server.dataDir);
    const hex = (server.clock.now() + 60_000).toString(16).padStart(12, '0');
    const prefix = `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-`;
    for (let first = 0; first < 5000; first += 500) {
      const ids = Array.from(
        { length: 500 },
        (_, place) => prefix + (first + place).toString(16).padStart(12, '0'),
      );
      const about = { action: 'write_file', outcome: 'done', details: '{}', count: 1 } as const;
      const by = { user_id: user.userId, user_name: 'ann' };
      const entries = ids.map((id) => ({ id, ...about, ...by }));
      await database.insertInto('audit_entry').values(entries).execute();
      const readers = ids.map((entry_id) => ({ user_id: user.userId, entry_id }));
      await database.insertInto('audit_reader').values(readers).execute();
    }
    await database.destroy();
    await server.open();
    const { body } = await user.api('GET', '/api/v2/audit?action=create_project');
    expect(body['entries']).toEqual([]);
    expect(typeof body['next_cursor']).toBe('string');
    const [entry] = await readEntries(user.api, { action: 'create_project' });
    expect(entry?.subject?.id).toBe(project.id);
    const lines = (await user.api('GET', '/api/v2/audit/export?action=write_file')).text.trim().split('\n');
    expect(new Set(lines.map((line) => stringAt(JSON.parse(line), 'id'))).size).toBe(5000);
  });

  it('keeps the names of users who are gone, and of what they had', async () => {
    const ann = await server.createCaller('ann');
    const project = await TestProject.create(ann.api, 'shop');
    await server.api('PATCH', `/api/v2/users/${ann.userId}`, { body: { name: 'Anna' } });
    await server.api('DELETE', `/api/v2/users/${ann.userId}?projects=delete`);
    const [created] = await readEntries(server.api, { subject_id: project.id });
    expect(created).toMatchObject({
      user: { name: 'ann' },
      subject: { name: 'shop' },
      token: { name: 'test' },
    });
  });

  it('cannot be changed, and ends with its retention', async () => {
    await server.createUser('ann');
    await server.close();
    const database = await openTablesOf(server.dataDir);
    const change = database.updateTable('audit_entry').set({ user_name: 'nobody' }).execute();
    await expect(change).rejects.toThrow(/is not changed/);
    await database.destroy();
    await server.open();
    expect(await actionsOf(server.api)).toEqual(['create_user', ...ofTheStart]);
    server.clock.advance(29 * 86_400_000);
    await server.restart();
    expect(await actionsOf(server.api)).toEqual(['create_user', ...ofTheStart]);
    server.clock.advance(2 * 86_400_000);
    await server.restart();
    await expect.poll(() => actionsOf(server.api)).toEqual([]);
  });

  // Needs a file of SQLite; in PostgreSQL everybody sees what is committed.
  it.skipIf(isOnServers)('has what was answered with success, whenever the server dies', async () => {
    const { host, deviceIds } = await server.connectHost({ serials: ['one', 'two'] });
    const project = await TestProject.create(server.api);
    await project.put('main.ts', 'console.log(1)');
    const body = { device_ids: deviceIds, automationId: project.id, command: 'start' };
    expect((await server.api('POST', '/api/v2/devices/launchAutomation', { body })).status).toBe(200);
    // The copy has what kill -9 would leave at this moment.
    const folder = mkdtempSync(path.join(tmpdir(), 'phalanx-audit-'));
    for (const name of ['phalanx.db', 'phalanx.db-wal'])
      cpSync(path.join(server.dataDir, name), path.join(folder, name));
    const left = new Database(path.join(folder, 'phalanx.db'));
    const launches = left.prepare("SELECT details FROM audit_entry WHERE action = 'launch'").all();
    left.close();
    rmSync(folder, { recursive: true });
    expect(launches).toHaveLength(1);
    expect(JSON.parse(stringAt(launches[0], 'details'))).toMatchObject({ devices: 2 });
    await host.cut();
  });
});

describe('refusals', () => {
  const refused = async (query: Record<string, string> = {}) =>
    readEntries(server.api, { outcome: 'refused', ...query });

  // Each server counts what it refuses.
  const atOneServer = (token = adminToken): ApiCaller => createApiCaller(server.url, token);

  it('of bad tokens are counted, so that a flood of them stays small', async () => {
    const atOne = atOneServer();
    const strangers = (count: number) =>
      Promise.all(
        Array.from({ length: count }, (_, index) =>
          atOne('GET', `/api/v2/devices/${index % 200}`, { token: `phx_${index}` }),
        ),
      );
    for (let round = 0; round < 3; round++) await strangers(100);
    await expect.poll(() => refused()).toHaveLength(1);
    expect((await refused())[0]).toMatchObject({
      user: null,
      token: null,
      address: '127.0.0.1',
      code: 'unauthorized',
      action: 'read',
      count: 1,
      details: { route: 'GET /api/v2/devices/:id' },
    });
    await server.restart();
    // Most of them were refused before their token was looked at.
    expect((await refused()).map(({ count }) => count)).toEqual([expect.any(Number), 1]);
  });

  it('of many kinds are told apart up to a limit', async () => {
    const ann = await server.createCaller('ann');
    const atOne = atOneServer(ann.token);
    for (let index = 0; index < 60; index++)
      await atOne('DELETE', `/api/v2/automation-project/${crypto.randomUUID()}`);
    await server.restart();
    const entries = await refused({ user_id: ann.userId });
    expect(entries).toHaveLength(51);
    expect(entries[0]).toMatchObject({ details: { others: true }, count: 10 });
  });

  it('of rights name the user, the token and what was asked for', async () => {
    const ann = await server.createCaller('ann');
    const bob = await server.createCaller('bob');
    const project = await TestProject.create(ann.api);
    await project.as(bob.api).write('a.txt', 'a');
    await bob.api('GET', '/api/v2/users');
    const { secret } = await server.createToken({ scopes: ['read'] });
    await TestHost.connected({ url: server.url, token: secret }).catch(() => undefined);
    await expect
      .poll(async () => (await refused()).map(({ action }) => action))
      .toEqual(['connect_host', 'read', 'write_file']);
    const [connect, read, write] = await refused();
    expect(connect).toMatchObject({ user: { name: 'administrator' }, code: 'forbidden' });
    expect(read).toMatchObject({ user: { name: 'bob' }, details: { route: 'GET /api/v2/users' } });
    expect(write).toMatchObject({ code: 'project_not_found', subject: { type: 'project', id: project.id } });
    expect(await actionsOf(bob.api, { outcome: 'refused' })).toEqual(['read', 'write_file']);
    expect(await actionsOf(ann.api, { outcome: 'refused' })).toEqual([]);
  });
});

describe('what is done in part', () => {
  it('stands in it as failed, beside its beginning', async () => {
    await server.dispose();
    server = await TestServer.start({ ackTimeoutMs: 50 });
    const { host, deviceId } = await server.connectHost({ launchHabit: 'silent' });
    expect((await server.start(deviceId)).status).toBe(400);
    const entries = (): ReturnType<typeof readEntries> => readEntries(server.api, { action: 'launch' });
    await expect
      .poll(async () => (await entries()).map(({ outcome }) => outcome))
      .toEqual(['failed', 'done']);
    const [failed, begun] = await entries();
    expect(failed).toMatchObject({ code: 'launch_not_acknowledged', request_id: begun?.request_id });
    await host.cut();
  });
});
