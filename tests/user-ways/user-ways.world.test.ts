import { cp, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { makeApk } from '@phalanx/simulated-phone';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse as parseYaml } from 'yaml';

import { listBlocks, type Block } from './doc-blocks.ts';
import { listPublicNames } from './public-names.ts';
import { Service } from './service.ts';

const allNames = fileURLToPath(new URL('all-names', import.meta.url));
const samples = fileURLToPath(new URL('../../apps/cli/samples', import.meta.url));
const strict = JSON.stringify({ compilerOptions: { strict: true, noUncheckedIndexedAccess: true } });
const timeLimitMs = 300_000;
const made = { packageName: 'com.example.made', versionCode: 7, versionName: '1.7', minSdkVersion: 26 };
const apk = makeApk(made).toString('base64');

/** Whether a file is code: all except the settings for this repository's editor. */
const isCode = (file: string): boolean => !file.endsWith('tsconfig.json');

let service: Service;
let devices: string[];
beforeAll(async () => {
  service = await Service.start(4, {
    // Nothing listens there: examples about e-mail create webhooks but send nothing.
    PHALANX_SMTP_URL: 'smtp://127.0.0.1:9?tls=none',
    PHALANX_MAIL_FROM: 'phalanx@example.com',
    PHALANX_MAIL_TO: 'example.com',
  });
  devices = await service.readyDevices(4);
}, timeLimitMs);
afterAll(() => service.stop());

const device = (index: number): string => devices[index] ?? '';
const at = (...names: string[]): string => path.join(service.folder, ...names);

/** Pushes a folder to a new project with `git push`. */
async function pushByGit(name: string, folder: string): Promise<string> {
  const projectId = await service.createProject(name);
  const git = (...args: string[]): Promise<string> => service.run('git', args, folder);
  await git('init', '--quiet', '--initial-branch', 'main');
  await git('add', '.');
  await git(
    '-c',
    'user.name=Ada',
    '-c',
    'user.email=ada@example.com',
    'commit',
    '--quiet',
    '-m',
    'All names',
  );
  await git(
    'push',
    '--quiet',
    `${service.url.replace('//', `//x:${service.token}@`)}/git/${projectId}.git`,
    'main',
  );
  return projectId;
}

/** Pushes a folder to a new project with `phalanx project push`. */
async function pushByProgram(name: string, folder: string): Promise<string> {
  await service.run('phalanx', ['project', 'create', name, '--dir', folder]);
  await service.run('phalanx', ['project', 'push'], folder);
  const { projects } = await service.call('GET', '/api/v2/automation-project');
  const found = (projects as { id: string; name: string }[]).find((project) => project.name === name);
  return found?.id ?? '';
}

describe.for<{ mode: string; end: string; phone: number; push: typeof pushByGit }>([
  { mode: 'default options', end: 'control', phone: 0, push: pushByProgram },
  { mode: 'strict', end: 'global', phone: 1, push: pushByGit },
])('a saved project with $mode', { concurrent: true }, ({ mode, end, phone, push }) => {
  test('uses every public name, and each does what it says', { timeout: timeLimitMs }, async () => {
    const folder = at(mode.replace(' ', '-'));
    await cp(allNames, folder, { recursive: true, filter: isCode });
    if (mode === 'strict') await writeFile(path.join(folder, 'tsconfig.json'), strict);
    const projectId = await push(mode, folder);
    const run = await service.launch(device(phone), projectId, { url: service.url, end, apk });
    const log = await service.readLog(device(phone), projectId);
    const messages = log.map(({ message }) => String(message));
    expect(messages.filter((message) => /^\s*wrong/.test(message))).toEqual([]);
    expect(run).toMatchObject({ status: 'completed', error: null });
    const used = new Set(messages.map((message) => /^\s*ok (.+)/.exec(message)?.[1]));
    const otherEnd =
      end === 'control' ? ['stopCurrentAutomation'] : ['Agent.control', 'AgentControl.stopCurrentAutomation'];
    expect(listPublicNames().filter((name) => !used.has(name))).toEqual(otherEnd);
    for (const [level, print] of printed)
      expect(log).toContainEqual(expect.objectContaining({ messageLevel: level, message: print }));
    const place = log.find(({ message }) => message === 'printed warn');
    const source = (await readFile(path.join(folder, 'plain.ts'), 'utf8')).split('\n');
    expect(source[Number(place?.['lineNumber']) - 1]).toContain("console.warn('printed warn')");
    const query = `automation_id=${projectId}&type=debug&tag=names`;
    expect(await service.call('GET', `/api/v2/automation-project/out-of-steps?${query}`)).toMatchObject({
      total: 1,
      result: { type: 'debug', tag: 'names', screens: [{ nextStage: 'names' }, { screenState: 'unknown' }] },
    });
  });
});

const printed: [level: string, message: unknown][] = [
  ['log', "printed log { a: [ 1, 'x' ] }"],
  ['log', 'printed info'],
  ['log', 'printed debug'],
  ['warn', 'printed warn'],
  ['error', 'printed error'],
  ['error', expect.stringMatching(/^Trace: printed trace\n {4}at /)],
  ['log', '{ printed: [Object] }'],
  ['log', 'printed dirxml'],
  ['log', expect.stringContaining("│ 'table' │")],
  ['warn', 'Assertion failed: printed assert'],
  ['log', 'printed count: 1'],
  ['log', expect.stringMatching(/^printed time: [\d.]+m?s so far$/)],
  ['log', expect.stringMatching(/^printed time: [\d.]+m?s$/)],
  ['log', 'printed group'],
  ['log', '  within'],
  ['log', 'printed groupCollapsed'],
];

describe('a sample', async () => {
  const names = (await readdir(samples)).filter((name) => name.endsWith('.ts'));
  const given: Record<string, Record<string, string>> = {
    'registration.ts': { name: 'Ada', email: 'ada@example.com' },
  };

  test.for(names)('%s is pushed and runs', { timeout: timeLimitMs }, async (name) => {
    const folder = at(`sample-${name}`);
    await cp(path.join(samples, name), path.join(folder, 'main.ts'));
    const projectId = await pushByProgram(name, folder);
    const run = await service.launch(device(2), projectId, given[name]);
    expect(run).toMatchObject({ status: 'completed', error: null });
  });
});

describe('a table of inputs', () => {
  test('is run, resumed and exported by the program alone', { timeout: timeLimitMs }, async () => {
    const folder = at('table');
    const phalanx = (...args: string[]): Promise<string> => service.run('phalanx', args, folder);
    await service.run('phalanx', ['project', 'create', 'table', '--dir', folder]);
    const code = `const { name } = agent.arguments.jobVariables as { name: string };
if (name === 'Bad') throw new Error('no such person');
agent.control.setResult({ greeting: 'Hello ' + name });`;
    await writeFile(path.join(folder, 'main.ts'), code);
    await phalanx('project', 'push');
    await phalanx('pools', 'set', 'table', 'sdk>=1');
    const names = Array.from({ length: 20 }, (_, row) => `Person ${row}`);
    await writeFile(path.join(folder, 'people.csv'), ['name', ...names, 'Bad', ''].join('\n'));
    const table = [
      '--labels',
      'pool=table',
      '--inputs',
      'people.csv',
      '--retries',
      '1',
      '--retry-on',
      'error',
    ];
    await expect(phalanx('jobs', 'create', ...table, '--key', 'once', '--follow')).rejects.toThrow('failed');
    const again = JSON.parse(await phalanx('jobs', 'create', ...table, '--key', 'once', '--json')) as {
      job: { id: string; tasks: Record<string, number> };
    };
    await phalanx('jobs', 'results', again.job.id, '--out', 'results.csv');
    const results = await readFile(path.join(folder, 'results.csv'), 'utf8');
    expect(again.job.tasks, results).toMatchObject({ completed: names.length, failed: 1 });
    for (const name of names) expect(results).toContain(`${name},Hello ${name}\r\n`);
    const bad = results.split('\r\n').find((line) => line.includes('Bad'));
    expect(bad).toMatch(/^21,failed,.*,2,Error: no such person,Bad,$/);
    expect(await phalanx('jobs', 'resume', again.job.id)).toContain('1 waiting');
    expect(await phalanx('jobs', 'show', again.job.id)).toContain(again.job.id);
  });
});

describe('a new project', () => {
  test('is known to the editor as the service knows it', { timeout: timeLimitMs }, async () => {
    const folder = at('editor');
    await service.run('phalanx', ['project', 'create', 'editor', '--dir', folder]);
    await cp(allNames, folder, { recursive: true, filter: isCode });
    await service.run('phalanx', ['types', folder]);
    const tsc = fileURLToPath(new URL('../../node_modules/typescript/bin/tsc', import.meta.url));
    await service.run(process.execPath, [tsc, '-p', folder]);
    await writeFile(path.join(folder, 'main.ts'), 'agent.utils.outOfStepz.foo();\n');
    await expect(service.run(process.execPath, [tsc, '-p', folder])).rejects.toThrow();
    await expect(service.run('phalanx', ['project', 'push'], folder)).rejects.toThrow('TS2551');
  });
});

const tutorial = 'docs/tutorial.md';

describe('the tutorial', () => {
  const blocks = listBlocks().filter(({ file }) => file === tutorial);
  const serial = 'SIM0004';

  /** Returns the ID of the tutorial's project in a list. */
  async function findId(list: string[], rows: string, key: string): Promise<string> {
    const reply = JSON.parse(await service.run('phalanx', [...list, '--json'])) as Record<string, unknown>;
    const found = (reply[rows] as Record<string, unknown>[]).find((row) =>
      JSON.stringify(row).includes('Five taps'),
    );
    return String(found?.[key]);
  }
  const filled = async (command: string): Promise<string> => {
    let text = command.replace('SIM0001', serial);
    if (text.includes('RECORD'))
      text = text.replace('RECORD', await findId(['records', 'list'], 'records', 'out_of_steps_id'));
    if (text.includes('GROUP')) text = text.replace('GROUP', await findId(['groups'], 'groups', 'id'));
    return text;
  };

  test('goes as it is printed, from its first command to its last', { timeout: timeLimitMs }, async () => {
    const folder = at('five-taps');
    let said = '';
    for (const { language, text } of blocks) {
      if (language === 'ts') {
        await writeFile(path.join(folder, 'main.ts'), text);
        continue;
      }
      for (const command of text.split(/\n(?=phalanx )/)) {
        // Two of them fail, as the page says.
        const shell = ['-c', `(${await filled(command)}) 2>&1 || true`];
        said += await service.run('bash', shell, said === '' ? service.folder : folder);
      }
    }
    const ways = [
      '3 button "Tap me" #tap_me',
      'out of steps or at an unknown screen',
      'TextView #alertTitle "Enjoying this app?"',
      'expected "RateDialog", got "unknown"',
      '1 of 2 golden screens is not as expected.',
      '2 golden screens as expected',
      `${serial}: the run completed after`,
      'Solves group',
      'solved in',
      'nightly',
    ];
    for (const way of ways) expect(said).toContain(way);
    expect(said.match(/unknown screen or ran out of steps/g)).toHaveLength(1);
  });
});

describe('the pages', () => {
  const blocks = listBlocks().filter(({ file }) => file !== tutorial);

  test('every exception and every placeholder is still printed', () => {
    const texts = blocks.map(({ text }) => text);
    for (const { starts } of notRun) expect(texts.filter((text) => text.startsWith(starts))).toHaveLength(1);
    for (const { prints } of placeholders) expect(texts.join('\n')).toContain(prints);
  });

  /** Languages of configuration files for programs that are not installed here. */
  const configurations = ['ini', 'nginx'];
  test.for(blocks.filter(({ language }) => language === 'json'))('$file, line $line: is JSON', ({ text }) => {
    expect(() => JSON.parse(text) as unknown).not.toThrow();
  });

  test.for(blocks.filter(({ language }) => language === 'yaml'))('$file, line $line: is YAML', ({ text }) => {
    expect(parseYaml(text)).toEqual(expect.any(Object));
  });

  const isRun = ({ language, text }: Block): boolean =>
    ![...configurations, 'json', 'yaml'].includes(language) &&
    !notRun.some(({ starts }) => text.startsWith(starts));
  test.for(blocks.filter(isRun))(
    '$file, line $line: $language runs as printed',
    { timeout: timeLimitMs },
    async (block) => {
      if (block.language === 'ts') return runCode(block);
      if (block.language === 'js') return runProgram(block);
      if (block.language === 'python')
        return expect(await service.run('python3', ['-c', block.text])).toMatch(/^\S+\nsucceeded\n$/);
      const said = await service.shell(`${idOf}\n${filledIn(block.text)}`);
      expect(said).not.toContain('"success":false');
    },
  );
});

/** Runs code as the only file of a project, with default settings and with `strict`. */
async function runCode({ file, line, text }: Block): Promise<void> {
  const projectId = await service.createProject(`${file} ${line}`);
  const write = (name: string, content: string): Promise<unknown> =>
    service.writeFile(projectId, name, content);
  await write('main.ts', text);
  await write('tsconfig.json', strict);
  await write('main.ts', text);
  expect(await service.launch(device(3), projectId)).toMatchObject({ status: 'completed', error: null });
}

/** Runs a program on this machine, in a folder with the packed client. */
async function runProgram({ text }: Block): Promise<void> {
  const root = fileURLToPath(new URL('../..', import.meta.url));
  await service.run(process.execPath, [path.join(root, 'scripts/pack-client.ts')]);
  const client = at('program', 'node_modules', '@phalanx', 'client');
  await cp(path.join(root, 'packages/client/dist'), client, { recursive: true });
  await writeFile(at('program', 'main.mjs'), text);
  const said = await service.run(process.execPath, ['main.mjs'], at('program'));
  expect(said).toBe('Hello, Ada\nsucceeded true\n');
}

/** Printed commands that are not run here. */
const notRun: { starts: string; reason: string }[] = [
  { starts: 'npm run demo', reason: 'demo.world.test.ts runs it to its end' },
  { starts: 'npm test', reason: 'the first tier of the tests, of which this is the third' },
  {
    starts: 'npm pack',
    reason: 'installed-program.world.test.ts runs what it makes; it changes the machine',
  },
  { starts: 'npm install --global', reason: 'tests/deploy looks at the units; it changes the machine' },
  { starts: 'phalanx backup', reason: 'backup.test.ts does it, in folders of its own' },
  { starts: 'pg_dump', reason: 'postgres-backup.engines.test.ts does it, on a PostgreSQL of its own' },
  { starts: 'createdb', reason: 'postgres-backup.engines.test.ts does it, on a PostgreSQL of its own' },
  {
    starts: 'docker compose -f deploy/compose.yaml',
    reason: 'tests/deploy runs the image; it needs an engine',
  },
  { starts: 'docker compose -f deploy/compose.cluster.yaml', reason: 'it needs an engine' },
  { starts: 'kubectl', reason: 'it needs Kubernetes' },
  {
    starts: 'apt-get install postgresql',
    reason: 'postgres.engines.test.ts runs on one; it changes the machine',
  },
  {
    starts: 'phalanx start',
    reason: 'its port may be in use here; the service of these tests is started by it',
  },
  {
    starts: 'phalanx login                        # once',
    reason: 'mcp.world.test.ts writes the configuration of programs',
  },
  { starts: 'phalanx act', reason: 'act.world.test.ts does it; here an automation may run on the phone' },
  { starts: 'npm run check', reason: 'all checks and tests of the repository: CI runs each' },
];

/** Placeholders that readers replace. */
const placeholders: { prints: string; means: () => string }[] = [
  { prints: 'localhost:8080', means: () => service.url.replace('http://', '') },
  { prints: 'phx_…', means: () => service.token },
  { prints: 'DEVICE=…', means: () => `DEVICE=${device(3)}` },
  { prints: '"user_id": "…"', means: () => `"user_id": "'$(id_of users "Ada")'"` },
  { prints: 'tokens/…', means: () => 'tokens/$(id_of tokens "host in room 3")' },
];

/** Finds an ID in a list, like a reader does by eye. */
const idOf = `id_of() { curl -s "$PHALANX_SERVER_URL/api/v2/$1" -H "Authorization: Bearer $TOKEN" |
  sed 's/{/\\n/g' | grep -F "\\"name\\":\\"$2\\"" | grep -oE '"id":"[^"]+"' | head -1 | cut -d'"' -f4; }`;

const filledIn = (text: string): string =>
  placeholders.reduce((filled, { prints, means }) => filled.replaceAll(prints, () => means()), text);
