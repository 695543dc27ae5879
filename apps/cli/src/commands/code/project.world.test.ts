import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { promisify } from 'node:util';
import { commitRoutes, fileRoutes, projectRoutes } from '@phalanx/protocol';
import { Compile } from 'typebox/compile';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import type { CliResult } from '../../testing/cli-process.ts';
import { TestService } from '../../testing/test-service.ts';

// Each test starts many processes, which takes its time on a busy machine.
let service: TestService;
/** ID of the test's own project. */
let id: string;
let folder: string;

beforeAll(async () => {
  service = await TestService.start(0);
});
afterAll(() => service.stop());

beforeEach(async () => {
  const { project } = await service.api.call(projectRoutes.create, { body: { name: 'checkout' } });
  id = project.id;
  folder = await mkdtemp(path.join(service.folder, 'work-'));
  expect(await inFolder('link', id)).toMatchObject({ code: 0 });
});

// The next test reuses the name. Some tests have already deleted their project.
afterEach(() => service.api.call(projectRoutes.delete, { params: { id } }).catch(() => undefined));

const inFolder = (...args: string[]): Promise<CliResult> =>
  service.run(['project', ...args], { cwd: folder });
const writeHere = async (file: string, content: string | Uint8Array): Promise<void> => {
  await mkdir(path.dirname(path.join(folder, file)), { recursive: true });
  await writeFile(path.join(folder, file), content);
};
const readHere = (file: string): Promise<string> => readFile(path.join(folder, file), 'utf8');
const writeThere = (file: string, content: string) =>
  service.api.call(fileRoutes.write, { params: { id }, body: { path: file, content } });
const readThere = async (file: string): Promise<string> =>
  (await service.api.call(fileRoutes.read, { params: { id }, query: { path: file } })).content;
const listThere = async (): Promise<string[]> => {
  const { files } = await service.api.call(fileRoutes.list, { params: { id } });
  return files.filter(({ change }) => change !== 'deleted').map((file) => file.path);
};

describe('a push of a folder', () => {
  test('sends what was changed and nothing else, whatever order it compiles in', async () => {
    await writeHere('main.ts', `import { greet } from './lib/greet.ts';\nconsole.log(greet('Ada'));\n`);
    await writeHere('lib/greet.ts', 'export const greet = (name: string): string => `Hi ${name}`;\n');
    await writeHere('data/Zürich 🏔.json', '{"a": "\\u0000"}');
    await writeHere('.gitignore', '*.log\n');
    for (const ignored of ['a.log', 'node_modules/x/index.js', '.git/config', 'main.js'])
      await writeHere(ignored, 'x');
    const first = await inFolder('push');
    expect(first).toMatchObject({ code: 0, stderr: '' });
    expect(await listThere()).toEqual(
      ['.gitignore', 'data/Zürich 🏔.json', 'lib/greet.ts', 'main.ts', 'tsconfig.json'].sort(),
    );
    expect(await readThere('data/Zürich 🏔.json')).toBe('{"a": "\\u0000"}');
    expect((await inFolder('push')).stdout).toBe('Nothing to push.\n');

    await writeHere(
      'lib/greet.ts',
      'export const greet = (name: string, loud: boolean): string => name + loud;\n',
    );
    await writeHere('main.ts', `import { greet } from './lib/greet.ts';\nconsole.log(greet('Ada', true));\n`);
    await writeHere(
      'a-user.ts',
      `import { greet } from './lib/greet.ts';\nconsole.log(greet('Bob', true));\n`,
    );
    const second = await inFolder('push');
    expect(second).toMatchObject({ code: 0, stderr: '' });
    expect(second.stdout.trim().split('\n').sort()).toEqual([
      'pushed    a-user.ts',
      'pushed    lib/greet.ts',
      'pushed    main.ts',
    ]);
  });

  test('saves nothing of a project that does not compile, and shows all errors', async () => {
    await writeHere('good.ts', 'export const good = 1;\n');
    await writeHere('wrong.ts', `const n: number = 'text';\n`);
    await writeHere('worse.ts', 'const worse: string = 1;\n');
    const { code, stdout, stderr } = await inFolder('push');
    expect(code).toBe(3);
    expect(stdout).toBe('');
    expect(stderr).toMatch(/^Nothing was pushed: /);
    expect(stderr).toMatch(/\bwrong\.ts\(1,7\): error TS2322: .+\n/);
    expect(stderr).toMatch(/\bworse\.ts\(1,\d+\): error /);
    expect(await listThere()).toEqual([]);
    await writeHere('wrong.ts', 'export const n = 1;\n');
    await writeHere('worse.ts', 'export const n = 1;\n');
    expect(await inFolder('push')).toMatchObject({ code: 0, stderr: '' });
    expect(await listThere()).toEqual(['good.ts', 'tsconfig.json', 'worse.ts', 'wrong.ts']);
  });

  test('says what is wrong with what was saved all the same', async () => {
    await writeHere('data.json', '{');
    expect(await inFolder('push')).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/^data\.json\(1,\d+\): error TS/),
      stdout: expect.stringContaining('pushed    data.json'),
    });
  });

  test('deletes what was deleted here only when somebody has said so', async () => {
    await writeHere('a.ts', 'export {};\n');
    await writeHere('b/c.ts', 'export {};\n');
    await inFolder('push');
    await rm(path.join(folder, 'b'), { recursive: true });
    await writeHere('b', 'now a file');
    const asked = await inFolder('push');
    expect(asked).toMatchObject({ code: 3, stdout: '' });
    expect(asked.stderr).toContain('Still on the server: b/c.ts');
    expect(await listThere()).toContain('b/c.ts');
    const agreed = await inFolder('push', '--delete');
    expect(agreed).toMatchObject({ code: 0, stdout: expect.stringContaining('deleted   b/c.ts') });
    expect(await listThere()).toEqual(['a.ts', 'b', 'tsconfig.json']);
  });

  test('does not overwrite what was changed on the server, unless it is told to', async () => {
    await writeHere('a.txt', 'base');
    await writeHere('b.txt', 'base');
    await inFolder('push');
    await writeThere('a.txt', 'theirs');
    await writeThere('new.txt', 'theirs');
    await writeHere('a.txt', 'mine');
    await writeHere('new.txt', 'mine');
    await writeHere('other.txt', 'mine');
    await rm(path.join(folder, 'b.txt'));
    await writeThere('b.txt', 'theirs');
    const { code, stderr } = await inFolder('push', '--delete');
    expect(code).toBe(1);
    for (const file of ['a.txt', 'b.txt', 'new.txt'])
      expect(stderr).toContain(`Changed on the server: ${file}\n`);
    expect(await readThere('a.txt')).toBe('theirs');
    expect(await readThere('b.txt')).toBe('theirs');
    expect(await listThere()).not.toContain('other.txt');
    expect(await inFolder('push', '--force')).toMatchObject({ code: 0 });
    expect(await readThere('a.txt')).toBe('mine');
    expect(await readThere('new.txt')).toBe('mine');
  });

  test('follows no symbolic link, and names what JSON cannot carry', async () => {
    await writeHere('bytes.bin', new Uint8Array([0xff, 0xfe, 0x00]));
    await symlink('/etc/passwd', path.join(folder, 'passwd'));
    await symlink('/etc', path.join(folder, 'etc'));
    const { code, stderr } = await inFolder('push');
    expect(code).toBe(3);
    expect(stderr).toContain('Left out: etc (neither a file nor a folder)\nLeft out: passwd (neither');
    expect(stderr).toContain('Not saved: bytes.bin\n  it is not UTF-8 text: push it with git\n');
    expect(await listThere()).toEqual([]);
  });

  test('goes on with names that a shell or a terminal might take for something else', async () => {
    const names = [
      '-rf',
      '$(touch x).txt',
      "it's.txt",
      'a b.txt',
      '\u001b[2J.txt',
      '..hidden',
      '%2e%2e.txt',
      '?path=x&a=b.txt',
    ];
    for (const name of names) await writeHere(name, name);
    const { code, stdout, stderr } = await inFolder('push');
    expect(stdout + stderr).not.toContain('\u001b');
    expect(code).toBe(3);
    expect(stderr).toContain('Field path "\\u001b[2J.txt"');
    expect(await listThere()).toEqual([]);
    await rm(path.join(folder, '\u001b[2J.txt'));
    expect(await inFolder('push')).toMatchObject({ code: 0, stderr: '' });
    const saved = names.filter((name) => !name.startsWith('\u001b'));
    expect((await listThere()).sort()).toEqual([...saved, 'tsconfig.json'].sort());
  });
});

describe('a pull into a folder', () => {
  test('brings what is new, removes what is gone, and keeps what was changed here', async () => {
    for (const file of ['same.txt', 'theirs.txt', 'mine.txt', 'gone.txt', 'deleted-here.txt'])
      await writeHere(file, 'base');
    await inFolder('push');
    await writeThere('theirs.txt', 'new');
    await writeThere('deep/new.txt', 'new');
    await service.api.call(fileRoutes.delete, { params: { id }, query: { path: 'gone.txt' } });
    await writeHere('mine.txt', 'mine');
    await writeHere('unknown.txt', 'mine');
    await rm(path.join(folder, 'deleted-here.txt'));
    const { code, stdout, stderr } = await inFolder('pull');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout.trim().split('\n')).toEqual([
      'pulled    deep/new.txt',
      'pulled    theirs.txt',
      'deleted   gone.txt',
      'kept      deleted-here.txt',
      'kept      mine.txt',
    ]);
    expect(await readHere('theirs.txt')).toBe('new');
    expect(await readHere('mine.txt')).toBe('mine');
    expect(await readHere('unknown.txt')).toBe('mine');
    await expect(readHere('gone.txt')).rejects.toThrow('ENOENT');
    await expect(readHere('deleted-here.txt')).rejects.toThrow('ENOENT');
    expect((await inFolder('push', '--delete')).code).toBe(0);
    expect(await listThere()).toEqual([
      'deep/new.txt',
      'mine.txt',
      'same.txt',
      'theirs.txt',
      'tsconfig.json',
      'unknown.txt',
    ]);
  });

  test('changes nothing when something was changed on both sides, unless it is told to', async () => {
    for (const file of ['a.txt', 'b.txt', 'c.txt']) await writeHere(file, 'base');
    await inFolder('push');
    for (const file of ['a.txt', 'b.txt', 'fresh.txt']) await writeThere(file, 'theirs');
    await writeHere('a.txt', 'mine');
    await writeHere('fresh.txt', 'mine');
    await service.api.call(fileRoutes.delete, { params: { id }, query: { path: 'c.txt' } });
    await writeHere('c.txt', 'mine');
    const refused = await inFolder('pull');
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toMatch(
      /^Nothing was pulled: 3 files changed here and on the server \(a\.txt, c\.txt, fresh\.txt\)/,
    );
    expect(await readHere('a.txt')).toBe('mine');
    expect(await readHere('b.txt')).toBe('base');
    expect(await inFolder('pull', '--force')).toMatchObject({ code: 0 });
    for (const file of ['a.txt', 'b.txt', 'fresh.txt']) expect(await readHere(file)).toBe('theirs');
    await expect(readHere('c.txt')).rejects.toThrow('ENOENT');
    expect((await inFolder('push')).stdout).toBe('Nothing to push.\n');
  });

  test('writes nothing through a symbolic link and nothing of its own settings', async () => {
    const outside = await mkdtemp(path.join(service.folder, 'outside-'));
    await symlink(outside, path.join(folder, 'way'));
    await writeThere('way/x.txt', 'theirs');
    await writeThere('.phalanx/project.json', '{"id": "x", "server_url": "http://evil.example"}');
    await writeThere('fine.txt', 'theirs');
    const { code, stderr } = await inFolder('pull');
    expect(code).toBe(0);
    expect(stderr).toContain('Left out: way/x.txt (a local folder or link is in its place)');
    expect(stderr).toContain('Left out: .phalanx/project.json (its name is reserved)');
    expect(JSON.parse(await readHere('.phalanx/project.json'))).toEqual({ id, server_url: service.url });
    await expect(readFile(path.join(outside, 'x.txt'))).rejects.toThrow('ENOENT');
    expect(await readHere('fine.txt')).toBe('theirs');
    // A file that could not be pulled is not deleted on the server, although it is missing here.
    expect(await inFolder('push', '--delete')).toMatchObject({ code: 0 });
    expect(await listThere()).toContain('way/x.txt');
  });
});

test('a folder of another server is not used with this one', async () => {
  await writeHere('.phalanx/project.json', JSON.stringify({ id, server_url: 'https://phones.example.com' }));
  const { code, stderr } = await inFolder('push');
  expect(code).toBe(2);
  expect(stderr).toMatch(/is on https:\/\/phones\.example\.com, but the server is http:\/\/127\.0\.0\.1/);
});

test('clone makes a folder that knows the types of the runtime and of its parameters', async () => {
  const properties = { name: { type: 'string' } };
  const schema = JSON.stringify({ type: 'object', required: ['name'], properties });
  await writeThere('parameters.schema.json', schema);
  await writeThere(
    'main.ts',
    'const name: string = agent.arguments.automationParameters.name;\nawait agent.actions.home();\n',
  );
  const cloned = await service.run(['project', 'clone', id, 'cloned']);
  expect(cloned).toMatchObject({
    code: 0,
    stderr: '',
    stdout: expect.stringContaining('has the 2 files of "checkout"'),
  });
  folder = path.join(service.folder, 'cloned');
  expect(await service.run(['project', 'clone', id, 'cloned'])).toMatchObject({ code: 2 });

  await runTsc();
  await writeHere(
    'main.ts',
    'const name: number = agent.arguments.automationParameters.name;\nagent.actions.fly();\n',
  );
  await expect(runTsc()).rejects.toMatchObject({
    stdout: expect.stringMatching(/main\.ts\(1,7\): error TS2322.*\n.*main\.ts\(2,15\): error TS2339/),
  });
  await writeHere('main.ts', 'console.log(1);\n');
  expect(await inFolder('push')).toMatchObject({ code: 0, stderr: '' });
  expect(await listThere()).toEqual(['main.ts', 'parameters.schema.json', 'tsconfig.json']);
});

test('commit, log, diff and revert work on what is saved', async () => {
  await writeHere('main.ts', 'console.log(1);\n');
  expect((await inFolder('commit', '-m', 'x')).stderr).toContain(
    'main.ts is not up to date on the server: "phalanx project push"',
  );
  await inFolder('push');
  expect((await inFolder('log')).stdout).toMatch(/^No commits yet/);
  expect(await inFolder('commit', '-m', ' First ')).toMatchObject({
    stderr: '',
    stdout: expect.stringMatching(/^[0-9a-f]{8} First\n$/),
  });
  const again = await inFolder('commit', '-m', 'again');
  expect(again).toMatchObject({
    code: 3,
    stderr: expect.stringMatching(/^There are no changes to commit/),
  });
  await writeHere('main.ts', 'console.log(2);\n');
  await inFolder('push');
  expect((await inFolder('diff')).stdout).toMatch(/-console\.log\(1\);\n\+console\.log\(2\);/);
  const log = await inFolder('log', '--json');
  expect(Compile(commitRoutes.list.responses[200]).Check(JSON.parse(log.stdout))).toBe(true);
  const [commit] = JSON.parse(log.stdout).commits;
  const reverted = await inFolder('revert', commit.hash.slice(0, 8));
  expect(reverted).toMatchObject({ code: 0, stdout: expect.stringContaining('Restored the files of') });
  expect(await inFolder('revert', 'ffff')).toMatchObject({ code: 2 });
  expect(await inFolder('pull')).toMatchObject({ code: 0, stdout: 'pulled    main.ts\n' });
  expect(await readHere('main.ts')).toBe('console.log(1);\n');
});

test('projects are listed, shared with a user by name, and deleted', async () => {
  await service.run(['user', 'create', 'Ada']);
  expect(await inFolder('share', 'Ada', '--role', 'shared_editor')).toMatchObject({
    code: 0,
    stdout: 'Ada now has the role shared_editor.\n',
  });
  expect(await inFolder('share', 'Ada', '--role', 'owner')).toMatchObject({ code: 2 });
  const { stdout } = await inFolder('list', '--json');
  expect(Compile(projectRoutes.list.responses[200]).Check(JSON.parse(stdout))).toBe(true);
  expect((await inFolder('list')).stdout).toMatch(
    new RegExp(`^ID +NAME +ROLE +CREATED\n${id} +checkout +owner +`),
  );
  expect((await inFolder('clone', id, '--git')).stdout).toBe(
    `git clone http://phalanx@${service.url.slice(7)}/git/${id}.git checkout\n`,
  );
  expect(await inFolder('unshare', 'Ada')).toMatchObject({ code: 0 });
  expect(await inFolder('delete', id)).toMatchObject({
    code: 2,
    stderr: 'Nothing was deleted: confirm with "y", or pass --yes.\n',
  });
  expect(await inFolder('delete', id, '--yes')).toMatchObject({
    code: 0,
    stdout: 'Project "checkout" was deleted.\n',
  });
  expect(await inFolder('push')).toMatchObject({ code: 3, stderr: `Project ${id} was not found.\n` });
});

test('the name of a project leads its clone nowhere else', async () => {
  const { project } = await service.api.call(projectRoutes.create, { body: { name: '../../../e vil/$(x)' } });
  const { code, stdout } = await inFolder('clone', project.id);
  expect(code).toBe(0);
  expect(stdout).toContain(path.join(folder, 'e-vil-x'));
});

async function runTsc(): Promise<void> {
  const { bin } = createRequire(import.meta.url)('typescript/package.json');
  const tsc = path.join(
    path.dirname(createRequire(import.meta.url).resolve('typescript/package.json')),
    bin.tsc,
  );
  await promisify(execFile)(process.execPath, [tsc, '-p', folder], { cwd: folder });
}

test('push and pull say as JSON what they did, and what they refuse', async () => {
  await writeHere('main.ts', 'console.log(1);\n');
  await writeHere('parameters.schema.json', '{"type": "no type"}');
  const pushed = await inFolder('push', '--json');
  expect(JSON.parse(pushed.stdout)).toMatchObject({
    success: true,
    pushed: expect.arrayContaining(['main.ts', 'parameters.schema.json']),
    deleted: [],
    still_there: [],
    warnings: [expect.stringContaining('parameters.schema.json')],
  });
  expect(pushed.stderr).toBe('');
  await rm(path.join(folder, 'parameters.schema.json'));
  expect(JSON.parse((await inFolder('push', '--json')).stdout)).toMatchObject({
    still_there: ['parameters.schema.json'],
  });
  await writeThere('theirs.txt', 'new');
  expect(JSON.parse((await inFolder('pull', '--json')).stdout)).toMatchObject({ pulled: ['theirs.txt'] });
  await writeThere('theirs.txt', 'newer');
  await writeHere('theirs.txt', 'mine');
  const refused = await inFolder('push', '--json');
  expect({ code: refused.code, stdout: refused.stdout }).toEqual({ code: 1, stdout: '' });
  expect(JSON.parse(refused.stderr).message).toContain('1 file (theirs.txt) changed on the server');
});
