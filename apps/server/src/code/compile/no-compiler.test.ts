import { openConfinement } from '@phalanx/confinement';
import { expect, it } from 'vitest';

import { cloneUrl, runUserGit, TestFolders, TestProject } from '../projects/testing/test-projects.ts';
import { adminToken, TestServer } from '../../testing/test-server.ts';

it('a compiler that can not start is told as a fault of the service, to callers and to git', async () => {
  const confinement = await openConfinement();
  const server = await TestServer.start({
    confinement: {
      ...confinement,
      wrap: (start, policy) => {
        const isCompiler = start.args.some((argument) => argument.endsWith('compile/process/main.ts'));
        return isCompiler ? { program: '/nowhere/node', args: [] } : confinement.wrap(start, policy);
      },
    },
  });
  const folders = new TestFolders();
  const folder = folders.make();
  const project = await TestProject.create(server.api);
  const { status, body } = await project.write('main.ts', 'console.log(1);');
  expect([status, body['code']]).toEqual([503, 'compiler_unavailable']);
  expect(await project.content('main.ts')).toBeUndefined();
  const { body: launched } = await server.connectHost().then(async ({ host, deviceId }) => {
    const reply = await server.start(deviceId);
    await host.cut();
    return reply;
  });
  expect(launched['code']).toBe('compiler_unavailable');

  await project.put('notes.txt', 'no source');
  await project.mustCommit();
  await runUserGit(folder, ['clone', '-q', cloneUrl(server, adminToken, project.id), '.']);
  await runUserGit(folder, ['mv', 'notes.txt', 'main.ts']);
  await runUserGit(folder, ['commit', '-qm', 'a source']);
  const pushed = await runUserGit(folder, ['push', 'origin', 'main']);
  expect(pushed.code).toBe(1);
  expect(pushed.text).toContain('remote: The service cannot start its compiler');
  await folders.removeAll();
  await server.dispose();
});
