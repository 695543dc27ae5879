import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { deviceRoutes, fileRoutes, LogEntry, projectRoutes, runRoutes } from '@phalanx/protocol';
import { Compile } from 'typebox/compile';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { TestService } from '../../testing/test-service.ts';
import { until } from '@phalanx/host/testing/until';

// Each test starts several processes, which takes its time on a busy machine.
let service: TestService;
const logEntry = Compile(LogEntry);

beforeAll(async () => {
  service = await TestService.start(2);
});
afterAll(() => service.stop());

const write = (name: string, code: string): Promise<void> => writeFile(path.join(service.folder, name), code);

/** Starts code that runs until it is stopped. Returns the launch ID. */
async function startEndless(device: string): Promise<string> {
  await write('endless.ts', 'console.log("begun"); await new Promise(() => setInterval(() => 0, 1000));');
  const { stderr } = await service.run(['exec', 'endless.ts', '--device', device]);
  return /Launch ID: (\S+)/.exec(stderr)?.[1] ?? '';
}

test('devices shows a table with state, age and reason', async () => {
  const { code, stdout } = await service.run(['devices']);
  const [head, first, second] = stdout.split('\n');
  expect(code).toBe(0);
  expect(head).toMatch(/^DEVICE +STATE +SINCE +MODEL +ANDROID +RUNNING +REASON$/);
  expect(first).toMatch(/^SIM000\d +ready +\d+(\.\d)? (s|min) +\S+ .+ +15 +- +\S/);
  expect(second).toMatch(/^SIM000\d +ready/);
});

test("devices --json prints the API's reply", async () => {
  const { stdout } = await service.run(['devices', '--json']);
  const reply: unknown = JSON.parse(stdout);
  expect(Compile(deviceRoutes.list.responses[200]).Check(reply)).toBe(true);
  expect(reply).toMatchObject({ success: true, devices: [{ state: 'ready' }, { state: 'ready' }] });
});

test('exec sets the phone for the run, which the API tells, and refuses what no phone takes', async () => {
  await write('zone.ts', "console.log('ran');");
  const exec = ['exec', 'zone.ts', '--device', 'SIM0001', '--follow'];
  const zone = ['--phone-time-zone', 'Asia/Kolkata', '--proxy', '10.0.0.5:3128', '--brightness', '0'];
  const places = ['--locale', 'dev.phalanx.sample.form=de-DE', '--location', '52.52,13.4'];
  const { code, stdout, stderr } = await service.run([...exec, ...zone, ...places]);
  expect([code, stdout]).toEqual([0, expect.stringContaining('ran')]);
  const [run] = (await service.api.call(runRoutes.list, { query: {} })).runs;
  expect(stderr).toContain(`${service.url}/runs/${run?.run_id ?? 'of no run'}\n`);
  const { run: detail } = await service.api.call(runRoutes.get, { params: { id: run?.run_id ?? '' } });
  expect(detail.parameters?.phone_settings).toEqual({
    http_proxy: '10.0.0.5:3128',
    time_zone: 'Asia/Kolkata',
    locale: { 'dev.phalanx.sample.form': 'de-DE' },
    location: { latitude: 52.52, longitude: 13.4 },
    brightness: 0,
  });
  expect(await service.run([...exec, '--location', '91,0'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--location takes latitude and longitude'),
  });
  const refused = await service.run([...exec, '--phone-time-zone', 'Europe/Nowhere']);
  expect(refused.code).not.toBe(0);
  expect(refused.stderr).toContain('its Android may not know Europe/Nowhere');
});

test('exec --follow prints the log of a file that ran with its parameters, and ends with 0', async () => {
  await write(
    'hello.ts',
    `const { automationParameters: p, jobVariables: v } = agent.arguments;
     console.log(JSON.stringify([p.name, p.count, p.list, p.text, p.phone, v.job]));
     console.warn('two\\nlines');
     console.error('\\u001b[2Jno escape');`,
  );
  await write('p.json', '{"name": "file", "text": "file"}');
  const parameters = [
    '--params-file',
    'p.json',
    '--param',
    'name=Ada=1',
    '--param',
    'count=3',
    '--param',
    'list:=[1]',
  ];
  const more = ['--param', 'phone=41791234567890123456', '--var', 'job=j 1'];
  const { code, stdout, stderr } = await service.run([
    'exec',
    'hello.ts',
    '--device',
    'SIM0001',
    '--follow',
    ...parameters,
    ...more,
  ]);
  expect(stdout).toContain('["Ada=1",3,[1],"file","41791234567890123456","j 1"]');
  expect(stdout).toMatch(/^\d\d:\d\d:\d\d\.\d{3} {2}warn {6}3 {2}two\n {27}lines$/m);
  expect(stdout).toContain('\\x1b[2Jno escape');
  expect(stdout).not.toContain('\u001b');
  expect(stderr).toMatch(
    /^Started on 1 device\. Launch ID: \S+\nhttp:\/\/\S+\/runs\/[\da-f-]{36}\nSIM0001: the run completed after .+\.\n$/,
  );
  expect(code).toBe(0);
});

describe('exec ends with the exit code of what happened', () => {
  test('1 when the run fails, with the reason', async () => {
    await write('fails.ts', `throw new Error('no luck');`);
    const { code, stdout, stderr } = await service.run(['exec', 'fails.ts', '--device', 'SIM0001', '-f']);
    expect(code).toBe(1);
    expect(stdout).toMatch(/error +1 {2}.*no luck/);
    expect(stderr).toMatch(
      /the run failed after .+ \(uncaught_error: .*no luck.*\)\.\nThe run did not complete\.\n$/,
    );
  });

  test('3 when the code does not compile, with the lines of the server', async () => {
    await write('wrong.ts', `const n = 1;\nlet = = 2;`);
    const { code, stdout, stderr } = await service.run(['exec', 'wrong.ts', '--device', 'SIM0001']);
    expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
    expect(stderr).toMatch(/^main\.ts\(2,\d+\): error.+\n$/);
  });

  test("3 when the device is not there, with the server's message", async () => {
    await write('ok.ts', '1');
    const { code, stderr } = await service.run(['exec', 'ok.ts', '--device', 'no-such']);
    expect(code).toBe(3);
    expect(stderr).toContain('Some devices offline or not found: no-such');
  });
});

test('exec --follow --json prints log and run events, one a line', async () => {
  await write('two.ts', 'console.log(1); console.log(2);');
  const { stdout } = await service.run(['exec', 'two.ts', '--device', 'SIM0002', '-f', '--json']);
  const [reply, ...events] = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(reply).toMatchObject({ success: true, launch_id: expect.any(String) });
  expect(events.at(-1)).toMatchObject({ type: 'run', run: { status: 'completed' } });
  const logs = events.slice(0, -1).flatMap((event) => event.logs);
  expect(logs.map(({ message }) => message)).toEqual(['1', '2']);
});

test('Ctrl-C ends --follow with 130 and the command that stops the run, which goes on', async () => {
  await write('endless.ts', 'console.log("begun"); await new Promise(() => setInterval(() => 0, 1000));');
  const following = service.spawn(['exec', 'endless.ts', '--device', 'SIM0001', '--follow']);
  await following.printed((stdout) => stdout.includes('begun'));
  following.signal('SIGINT');
  const { code, stderr } = await following.result();
  expect(code).toBe(130);
  const stop = /To stop them, run: phalanx (stop --device SIM0001 \S+)/.exec(stderr)?.[1]?.split(' ') ?? [];
  const launchId = stop.at(-1) ?? '';
  const { runs } = await service.api.call(runRoutes.list, { query: { automation_id: launchId } });
  expect(runs).toMatchObject([{ status: 'running' }]);

  expect(await service.run(stop)).toMatchObject({ code: 0, stdout: 'SIM0001: Stopped.\n' });
  expect(await service.run(stop)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('Nothing to stop'),
  });
  const listed = await service.run(['runs', '--automation', launchId]);
  expect(listed.stdout).toMatch(/^[0-9a-f]{12} +endless\.ts +SIM0001 +stopped /m);
});

test('stop --all ends everything on all devices, and says where', async () => {
  await Promise.all([startEndless('SIM0001'), startEndless('SIM0002')]);
  const { code, stdout } = await service.run(['stop', '--all']);
  expect(code).toBe(0);
  expect(stdout.trim().split('\n').sort()).toEqual([
    'SIM0001: Stopped 1 automation.',
    'SIM0002: Stopped 1 automation.',
  ]);
  expect((await service.run(['stop', '--all'])).stdout).toBe('Nothing to stop: it runs on no device.\n');
});

test('logs prints what there is, goes on at a log ID, and follows to the end of the run', async () => {
  await write('lines.ts', 'for (let n = 1; n <= 2500; n++) console.log("line " + n);');
  const { stderr } = await service.run(['exec', 'lines.ts', '--device', 'SIM0001']);
  const launchId = /Launch ID: (\S+)/.exec(stderr)?.[1] ?? '';
  const logs = ['logs', 'SIM0001', launchId, '--json'];
  const followed = await service.run([...logs, '--follow']);
  const entries = followed.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(followed.code).toBe(0);
  expect(followed.stderr).toMatch(/^The run completed after/);
  expect(entries.every((entry) => logEntry.Check(entry))).toBe(true);
  expect(entries.map(({ message }) => message)).toEqual(
    Array.from({ length: 2500 }, (_, n) => `line ${n + 1}`),
  );

  const rest = await service.run([...logs, '--from', entries[2497].id]);
  expect(
    rest.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line)),
  ).toEqual(entries.slice(2498));
  const none = await service.run(['logs', 'SIM0001', launchId, '--from', entries[2499].id]);
  expect(none).toEqual({ code: 0, stdout: '', stderr: 'No lines in the last 10 minutes.\n' });
  expect(await service.run(['logs', 'SIM0001', launchId, '--from', 'x'])).toMatchObject({ code: 3 });

  const ofRun = await service.run(['logs', '--run', entries[0].run_id, '--json']);
  expect(ofRun).toEqual({ code: 0, stdout: followed.stdout, stderr: '' });
  expect(await service.run(['logs', 'SIM0001', '--run', entries[0].run_id])).toMatchObject({ code: 2 });
});

test('runs lists what ran, newest first, by device and state', async () => {
  await write('ok.ts', '1');
  await service.run(['exec', 'ok.ts', '--device', 'SIM0002', '--follow']);
  const table = await service.run(['runs', '--device', 'SIM0002', '--status', 'completed']);
  expect(table.stdout).toMatch(
    /^RUN +AUTOMATION +DEVICE +STATUS +AGO +TOOK +ERROR\n[0-9a-f]{12} +\S+ +SIM0002 +completed /,
  );
  const json = await service.run(['runs', '--limit', '1', '--json']);
  const reply: unknown = JSON.parse(json.stdout);
  expect(Compile(runRoutes.list.responses[200]).Check(reply)).toBe(true);
  expect(reply).toMatchObject({ runs: [{ status: 'completed' }], next_cursor: expect.any(String) });
  const none = await service.run(['runs', '--status', 'lost']);
  expect(none).toMatchObject({ code: 0, stdout: expect.stringMatching(/^No runs\. "phalanx run/) });
});

describe('a run of a project', () => {
  let id: string;
  const save = (file: string, content: string) =>
    service.api.call(fileRoutes.write, { params: { id }, body: { path: file, content } });

  beforeAll(async () => {
    ({ id } = (await service.api.call(projectRoutes.create, { body: { name: 'greeting' } })).project);
    const properties = { name: { type: 'string' }, tries: { type: 'integer', default: 2 } };
    await save('parameters.schema.json', JSON.stringify({ type: 'object', required: ['name'], properties }));
    await save(
      'main.ts',
      `const { name, tries } = agent.arguments.automationParameters;
       const { serial } = await agent.info.device();
       for (let n = 1; n <= 300; n++) console.log(name + ' ' + tries + ' ' + n);
       if (serial === name) throw new Error('not here');`,
    );
  });

  const greeting = ['run', 'greeting', '--follow', '--device', 'SIM0001', '--device', 'SIM0002'];

  test('--follow prints the logs of all devices, with the device before each line, and nothing of earlier runs', async () => {
    await service.run([...greeting, '--param', 'name=before']);
    const { code, stdout, stderr } = await service.run([...greeting, '--param', 'name=Ada']);
    expect(code).toBe(0);
    for (const serial of ['SIM0001', 'SIM0002']) {
      const lines = stdout.split('\n').filter((line) => line.startsWith(`${serial}  `));
      const numbers = lines.map((line) => Number(/ Ada 2 (\d+)$/.exec(line)?.[1]));
      expect(numbers).toEqual(Array.from({ length: 300 }, (_, index) => index + 1));
      expect(stderr).toContain(`${serial}: the run completed`);
    }
    expect(stdout).not.toContain('before');
  });

  test('--follow prints nothing of a run that begins while the last lines of its own are awaited', async () => {
    const onFirst = ['run', 'greeting', '--device', 'SIM0001', '--param'];
    const following = service.spawn([...onFirst, 'name=first', '--follow']);
    await following.printed((stdout) => stdout.includes('first 2 300'));
    await until(
      'a start of the next run',
      () => service.run([...onFirst, 'name=second']),
      ({ code }) => code === 0,
    );
    const { stdout } = await following.result();
    expect(stdout).not.toContain('second');
    await until(
      'the end of the next run',
      () => service.api.call(runRoutes.list, { query: { status: 'running' } }),
      ({ runs }) => runs.length === 0,
    );
  });

  test('ends with 1 when one of the runs fails', async () => {
    const { code, stderr } = await service.run([...greeting, '--param', 'name=SIM0002']);
    expect(code).toBe(1);
    expect(stderr).toMatch(/SIM0001: the run completed/);
    expect(stderr).toMatch(/SIM0002: the run failed .*not here/);
    expect(stderr).toMatch(/1 of 2 runs did not complete\.\n$/);
  });

  const refusals: [string, string[], RegExp][] = [
    [
      'the parameters do not fit',
      ['greeting', '--all-ready'],
      /^The parameters do not fit parameters\.schema\.json/,
    ],
    ['there is no such project', ['nope', '--all-ready'], /^Unknown project "nope"/],
    ['there is no such ID', ['01920000-0000-7000-8000-000000000000', '--all-ready'], /was not found/],
    [
      'a device is not there',
      ['greeting', '--param', 'name=a', '--device', 'SIM0001', '--device', 'gone'],
      /not found: gone/,
    ],
  ];
  test.each(refusals)('ends with 3 when %s, and starts nothing', async (_reason, args, says) => {
    const before = await service.api.call(runRoutes.list);
    const { code, stderr } = await service.run(['run', ...args]);
    expect(code).toBe(3);
    expect(stderr).toMatch(says);
    expect(await service.api.call(runRoutes.list)).toEqual(before);
  });

  test('ends with 3 and the lines of the compiler when the project does not compile as a whole', async () => {
    await save('extra.ts', `import './missing.ts';\n`);
    await save('main.ts', `import './extra.ts';\n`);
    const { code, stderr } = await service.run(['run', 'greeting', '--all-ready', '--param', 'name=a']);
    expect(code).toBe(3);
    expect(stderr).toMatch(/^extra\.ts\(1,\d+\): error.*: .+missing/);
  });
});

test('stats tells how the runs ended, as a table and as CSV', async () => {
  const { code, stdout } = await service.run(['stats', '--days', '2']);
  const [head, first] = stdout.split('\n');
  expect(code).toBe(0);
  expect(head).toMatch(/^AUTOMATION +RUNS +SUCCESS +DURATION +WAITING +BUSY +REASONS/);
  expect(first).toMatch(/^Direct code +\d+ +\d+ % +\S+ (s|min)/);
  const csv = await service.run(['stats', '--by', 'device', '--labels', 'serial=SIM0001', '--csv']);
  expect(csv.stdout.split('\r\n')).toMatchObject([
    expect.stringMatching(/^device,name,runs,/),
    expect.any(String),
    '',
  ]);
  expect(await service.run(['stats', '--labels', 'serial'])).toMatchObject({ code: 3 });
});
