import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';

import type { CliResult } from '../../testing/cli-process.ts';
import { TestService } from '../../testing/test-service.ts';

let service: TestService;
beforeAll(async () => {
  service = await TestService.start(2);
});
afterAll(() => service.stop());

async function execute(code: string, ...args: string[]): Promise<CliResult> {
  await writeFile(path.join(service.folder, 'x.ts'), code);
  return service.run(['exec', 'x.ts', '--follow', ...args]);
}

/** Returns the end of the newest run's ID, as the table shows it. */
const newestRun = async (): Promise<string> =>
  /^([0-9a-f]{12}) /m.exec((await service.run(['runs', '--limit', '1'])).stdout)?.[1] ?? 'none';

test('a run that failed is shown with its stack, its parameters and its launcher', async () => {
  const failed = await execute(
    'function fail(): never {\n  throw new Error("on purpose");\n}\nfail();\n',
    '--device',
    'SIM0001',
    '--param',
    'tries=3',
  );
  expect(failed.code).toBe(1);
  const found = await service.run(['runs', '--search', 'ON PURPOSE']);
  expect(found.stdout).toContain(await newestRun());
  expect((await service.run(['runs', '--search', 'on porpoise'])).stdout).toMatch(/^No runs/);
  expect((await service.run(['runs', '--wide', '--limit', '1'])).stdout).toMatch(
    /BY +COMMIT +ERROR\n.* administrator with the token ".*".*on purpose/,
  );
  const { code, stdout } = await service.run(['runs', 'show', await newestRun()]);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^Status +failed after .* \(uncaught_error: .*on purpose\)$/m);
  expect(stdout).toMatch(/^Device +SIM0001 \(/m);
  expect(stdout).toMatch(/^Parameters +\{"tries":3\}$/m);
  expect(stdout).toMatch(/^Launched .* by administrator/m);
  expect(stdout).toMatch(/main\.ts:2:/);
});

test('runs that end out of steps on several devices have an exit code and a report of their own', async () => {
  const code = 'await agent.utils.outOfSteps.submit("outOfSteps");\n';
  const ended = await execute(code, '--all-ready', '--junit', 'report.xml');
  expect(ended).toMatchObject({
    code: 4,
    stderr: expect.stringContaining('2 of 2 runs met an unknown screen'),
  });
  const report = await readFile(path.join(service.folder, 'report.xml'), 'utf8');
  expect(report).toMatch(/<testsuite name="x\.ts" tests="2" failures="2"/);
  expect(report).toMatch(/<testcase classname="x\.ts" name="SIM0002" .*>\s*<failure type="out_of_steps"/);

  const ofPhone = ['records', 'list', '--json', '--device', 'SIM0002'];
  const [{ out_of_steps_id: id, run_id: run }] = JSON.parse((await service.run(ofPhone)).stdout).records;
  const table = await service.run(['records', 'list', '--run', run.slice(-12)]);
  expect(table.stdout).toMatch(/ SIM0002 +outOfSteps +pending /);
  const ofRun = await service.run(['records', 'list', '--json', '--run', run.slice(-12)]);
  expect(JSON.parse(ofRun.stdout).records).toMatchObject([{ out_of_steps_id: id }]);
  const shown = await service.run(['records', 'show', id.slice(0, -1)]);
  expect(shown).toMatchObject({ code: 0, stdout: expect.stringContaining(id) });
  expect(await service.run(['records', 'show', 'ffff'])).toMatchObject({ code: 3 });
});

test('the code of a run is printed as it was given, and can be run again from standard input', async () => {
  const code = 'const n: number = 7; // ä\nconsole.log(`seven is ${n}`);\n';
  expect((await execute(code, '--device', 'SIM0001')).code).toBe(0);
  const printed = await service.run(['runs', 'code', await newestRun()]);
  expect(printed).toMatchObject({ code: 0, stdout: code });
  const again = await service.run(['exec', '-', '--device', 'SIM0002', '--follow'], {
    input: printed.stdout,
  });
  expect(again).toMatchObject({ code: 0, stdout: expect.stringContaining('seven is 7') });
});
