import type { Project } from '@phalanx/protocol';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { TestServer } from '../../testing/test-server.ts';

let server: TestServer;

beforeAll(async () => {
  server = await TestServer.start();
});
afterAll(() => server.dispose());

test('a project tells when its files changed last', async () => {
  const id = await server.createProject();
  const read = async (): Promise<unknown> =>
    (await server.api('GET', `/api/v2/automation-project/${id}`)).body['project'];
  expect(await read()).toMatchObject({ changed_at: null });
  server.clock.advance(1000);
  const before = server.clock.now();
  const body = { path: 'notes.md', content: 'Hello' };
  expect(await server.api('PUT', `/api/v2/automation/file/${id}`, { body })).toMatchObject({ status: 200 });
  const { changed_at: changedAt } = (await read()) as Project;
  expect(changedAt).toBeGreaterThanOrEqual(before);
});
