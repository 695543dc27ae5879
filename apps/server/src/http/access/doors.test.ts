/** Asks at every door of the contracts for what the policy refuses to tokens of each limit. */
import {
  allRoutes,
  answersOf,
  type Door,
  hostConnectPath,
  type LimitKind,
  limitKinds,
  otherDoors,
  type RouteContract,
  scopes,
} from '@phalanx/protocol';
import { afterAll, beforeAll, expect, it } from 'vitest';

import { Viewer } from '../../control/live/testing/viewers.ts';
import { type ApiReply, createApiCaller } from '../../testing/api-caller.ts';
import { TestServer } from '../../testing/test-server.ts';

type AskedRoute = RouteContract & Door;
const doors = allRoutes.filter((route): route is AskedRoute => route.scope !== null && route.reach !== null);

let server: TestServer;
let projectId: string;
beforeAll(async () => {
  server = await TestServer.start();
  projectId = await server.createProject();
});
afterAll(() => server.dispose());

const limits: Record<LimitKind, () => Record<string, unknown>> = {
  projects: () => ({ project_ids: [projectId] }),
  phones: () => ({ selector: 'serial=one' }),
  apps: () => ({ apps: ['com.example.shop'] }),
  max_phones: () => ({ max_phones: 1 }),
  budget: () => ({ runs_per_day: 1 }),
};

/** A token of an administrator, with all scopes but for what is given. */
const secretOf = async (fields: Record<string, unknown>): Promise<string> =>
  (await server.createToken({ scopes: [...scopes], ...fields })).secret;

const knock = (secret: string, { method, path, body, bodyExample }: RouteContract): Promise<ApiReply> =>
  createApiCaller(server.url, secret)(
    method,
    path.replaceAll(/:\w+/g, projectId),
    body === undefined ? {} : { body: bodyExample ?? {} },
  );

async function listOpen(secret: string, closed: readonly AskedRoute[], reason: string): Promise<string[]> {
  const open: string[] = [];
  for (const door of closed) {
    const { status, body, text } = await knock(secret, door);
    if (status !== 403 || body['code'] !== 'forbidden' || !text.includes(reason)) open.push(door.operationId);
  }
  return open;
}

it.each(limitKinds)('every endpoint that is closed to tokens of the limit %s refuses them', async (kind) => {
  const closed = doors.filter(({ reach }) => answersOf(reach)[kind] === 'refused');
  expect(closed).not.toEqual([]);
  expect(await listOpen(await secretOf(limits[kind]()), closed, 'may not use this endpoint')).toEqual([]);
});

it.each(scopes)('every endpoint of the scope %s refuses tokens without it', async (scope) => {
  const secret = await secretOf({ scopes: scopes.filter((one) => one !== scope) });
  const closed = doors.filter((door) => door.scope === scope);
  expect(await listOpen(secret, closed, `does not have the scope \\"${scope}\\"`)).toEqual([]);
});

it('every endpoint of administrators refuses other users', async () => {
  const { token } = await server.createCaller('ordinary');
  const closed = doors.filter(({ reach }) => reach.administrators === true);
  expect(await listOpen(token, closed, 'Only administrators')).toEqual([]);
});

it('the WebSocket of hosts refuses limited tokens, and those without its scope', async () => {
  const answers = answersOf(otherDoors.host.reach);
  const refused = limitKinds.filter((kind) => answers[kind] === 'refused').map((kind) => limits[kind]());
  for (const fields of [...refused, { scopes: ['read', 'launch', 'edit', 'admin'] }]) {
    const headers = { authorization: `Bearer ${await secretOf(fields)}` };
    await expect(Viewer.open(`${server.url}${hostConnectPath}`, headers)).rejects.toThrow('403');
  }
});

it('git refuses tokens without the scope of what they do', async () => {
  for (const [service, { scope }] of [
    ['git-upload-pack', otherDoors.fetch],
    ['git-receive-pack', otherDoors.push],
  ] as const) {
    const secret = await secretOf({ scopes: scopes.filter((one) => one !== scope) });
    const address = `${server.url}/git/${projectId}.git/info/refs?service=${service}`;
    const reply = await fetch(address, { headers: { authorization: `Bearer ${secret}` } });
    expect([reply.status, await reply.text()]).toEqual([403, expect.stringContaining(`"${scope}"`)]);
  }
});
