import { openConfinement } from '@phalanx/confinement';
import { afterEach, expect, it } from 'vitest';

import { TestProject } from './testing/test-projects.ts';
import { TestLog } from '../../testing/test-log.ts';
import { TestServer } from '../../testing/test-server.ts';

const confinement = await openConfinement({ launcher: '/no/launcher' });
let server: TestServer | undefined;
afterEach(() => server?.dispose());

it('a machine that can not confine programs compiles, stores and commits all the same, and is told so', async () => {
  const log = new TestLog();
  server = await TestServer.start({ confinement, log: log.logger });
  const project = await TestProject.create(server.api);
  await project.put('main.ts', 'console.log(1);');
  expect(await project.mustCommit('first')).toMatch(/^[0-9a-f]{40}$/);
  const told = log.lines.map(({ msg }) => msg);
  expect(told).toContainEqual(expect.stringContaining('NOT confined by the operating system'));
});

it('a server that has to be confined does not start there', async () => {
  const settings = { PHALANX_REQUIRE_CONFINEMENT: 'true' };
  await expect(TestServer.start({ confinement, settings })).rejects.toThrow(
    /PHALANX_REQUIRE_CONFINEMENT is true, but: .*NOT confined/,
  );
});
