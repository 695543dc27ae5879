import { replayRoutes } from '@phalanx/protocol';
import { afterAll, beforeAll, expect, it } from 'vitest';

import { createApiCaller } from '../../testing/api-caller.ts';
import { ReplayScene } from '../../testing/records/replay-scene.ts';

let scene: ReplayScene;
beforeAll(async () => {
  scene = await ReplayScene.start();
});
afterAll(async () => {
  await scene.cutReplayHosts();
  await scene.dispose();
});

it('a replay goes to the host of an editor once they have accepted the project', async () => {
  const { server } = scene;
  await scene.createProject();
  const { userId, token } = await server.createCaller('ada');
  const replayer = await scene.connectReplayHost(undefined, token);
  const member = `/api/v2/automation-project/${scene.projectId}/members/${userId}`;
  await server.api('PUT', member, { body: { role: 'shared_editor' } });
  const start = () =>
    server.api('POST', replayRoutes.start.path.replace(':id', scene.projectId), { body: {} });
  expect((await start()).body['code']).toBe('no_replay_host');
  // This replay is automatic: each save starts one.
  await scene.save('main.ts', 'console.log("Cart");');
  expect(replayer.messages('replay')).toEqual([]);
  const body = { kind: 'project', id: scene.projectId };
  const accepted = await createApiCaller(server.url, token)('POST', '/api/v2/shares/accept', { body });
  expect(accepted.status).toBe(200);
  expect((await start()).status).toBe(202);
  await scene.untilReplaysEnded();
});
