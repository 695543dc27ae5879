import { rm } from 'node:fs/promises';
import path from 'node:path';
import Sqlite from 'better-sqlite3';
import { afterAll, beforeAll, expect, it } from 'vitest';

import { databaseFileOf } from '../../storage/db/database.ts';
import { TestProject } from '../projects/testing/test-projects.ts';
import { isOneServer } from '../../testing/engines/test-database.ts';
import type { TestHost } from '../../testing/test-host.ts';
import { TestServer } from '../../testing/test-server.ts';

let server: TestServer;
let host: TestHost;
let deviceId: string;
let project: TestProject;

beforeAll(async () => {
  server = await TestServer.start();
  ({ host, deviceId } = await server.connectHost());
  project = await TestProject.create(server.api);
});
afterAll(() => server.dispose());

const readAt = (tree: string, name = 'main.js') =>
  server.api('GET', `/api/v2/automation/file/${project.id}?path=${name}&tree=${tree}`);

/** Saves and runs code, and returns the tree of the run. */
async function ran(content: string): Promise<string> {
  await project.put('main.js', content);
  const body = { device_ids: [deviceId], automationId: project.id, command: 'start' };
  const reply = await server.api('POST', '/api/v2/devices/launchAutomation', { body });
  const [row] = reply.body['devices'] as { run_id: string }[];
  await host.end(row?.run_id ?? '', 'completed');
  return String((await server.run(row?.run_id ?? ''))['tree']);
}

it('is that of the code that ran, though it was changed since and never committed', async () => {
  const first = await ran('console.log(1);\n');
  const second = await ran('console.log(2);\n');
  await project.put('main.js', 'console.log(3);\n');
  expect(await readAt(first)).toMatchObject({ status: 200, body: { content: 'console.log(1);\n' } });
  expect(await readAt(second)).toMatchObject({ status: 200, body: { content: 'console.log(2);\n' } });
  expect(await readAt(second, 'other.js')).toMatchObject({ status: 404, body: { code: 'file_not_found' } });
});

/** Counts the packs of the project's log. */
function countPacks(): unknown {
  const sqlite = new Sqlite(databaseFileOf(server.dataDir), { readonly: true });
  try {
    return sqlite.prepare('select count(*) from project_pack where project_id = ?').pluck().get(project.id);
  } finally {
    sqlite.close();
  }
}

it('is of trees that ran in this project, and of no other', async () => {
  const tree = await ran('console.log("here");\n');
  const other = await TestProject.create(server.api);
  await other.put('main.js', 'console.log("here");\n');
  const reply = await server.api('GET', `/api/v2/automation/file/${other.id}?path=main.js&tree=${tree}`);
  expect(reply).toMatchObject({ status: 404, body: { code: 'tree_not_kept' } });
  expect(await readAt('0'.repeat(40))).toMatchObject({ status: 404, body: { code: 'tree_not_kept' } });
});

it.runIf(isOneServer)('is kept when the files of the project are packed anew', async () => {
  const tree = await ran('console.log("kept");\n');
  // Changes the project often enough that its log is repacked.
  for (let round = 0; round < 210; round += 1) await project.put('main.js', `console.log(${round});\n`);
  await expect.poll(countPacks).toBeLessThan(100);
  // Restarts the server without its cache, so that it has only stored data.
  await server.close();
  await rm(path.join(server.dataDir, 'project-cache'), { recursive: true });
  await server.open();
  expect(await readAt(tree)).toMatchObject({ status: 200, body: { content: 'console.log("kept");\n' } });
});
