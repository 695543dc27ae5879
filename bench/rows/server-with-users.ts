import { Type } from 'typebox';

import type { BenchProcess } from '../harness/bench-process.ts';
import type { Stage } from '../harness/stage.ts';
import { ask, listDeviceIds, newToken, sampleCode, type Api } from '../http/api.ts';
import { createProject } from '../projects/push-project.ts';

export interface UserWithProject {
  readonly api: Api;
  readonly projectId: string;
  readonly load: BenchProcess;
}

export interface ServerWithUsers {
  readonly api: Api;
  readonly server: BenchProcess;
  readonly phones: BenchProcess;
  readonly users: readonly UserWithProject[];
}

/** Limit above the runs of any row. */
const settings = { PHALANX_MAX_RUNS: '20000' };
const User = Type.Object({ user: Type.Object({ id: Type.String() }) });
const Made = Type.Object({ secret: Type.String() });

type Request = readonly [method: string, path: string, body: object];

/** Sends requests one by one. */
export async function sendAll(
  { api, load }: Pick<UserWithProject, 'api' | 'load'>,
  requests: readonly Request[],
): Promise<void> {
  const all = requests.map(([method, path, body]) => ({ method, path: `/api/v2/${path}`, body }));
  await load.call('sequence', { ...api, requests: all }, Type.Unknown());
}

/** Starts the product's server with working phones, and users with a project each who may launch on all phones. */
export async function startServerWithUsers(
  stage: Stage,
  count: number,
  fleet: { hosts: number; devicesPerHost: number },
): Promise<ServerWithUsers> {
  const token = newToken();
  const server = await stage.start('server');
  const url = await server.call('listen', { dataDir: await stage.folder(), token, settings }, Type.String());
  const api = { url, token };
  const phones = await stage.start('working-phones');
  await phones.call('connect', { ...api, ...fleet }, Type.Unknown());
  const deviceIds = await listDeviceIds(api);
  const users: UserWithProject[] = [];
  for (let no = 0; no < count; no += 1) {
    const load = await stage.start('http-load');
    const { user } = await ask(api, '/api/v2/users', User, { name: `user ${no}` });
    await sendAll(
      { api, load },
      deviceIds.map((id) => ['PUT', `devices/${id}/members/${user.id}`, { role: 'launch' }]),
    );
    const asked = { name: 'all', user_id: user.id, scopes: ['read', 'launch', 'edit'] };
    const own = { url, token: (await ask(api, '/api/v2/tokens', Made, asked)).secret };
    const { id: projectId } = await createProject(own);
    const one = { api: own, projectId, load };
    await sendAll(
      one,
      deviceIds.map((id) => ['POST', 'shares/accept', { kind: 'device', id }]),
    );
    await sendAll(one, [['PUT', `automation/file/${projectId}`, { path: 'main.ts', content: sampleCode }]]);
    users.push(one);
  }
  return { api, server, phones, users };
}
