import { mkdirSync, truncateSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import path from 'node:path';
import { openConfinement } from '@phalanx/confinement';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestFolders } from '../projects/testing/test-projects.ts';
import { type GitProgram, runGit } from './git-process.ts';
import { prepareGit } from './prepare-git.ts';

const folders = new TestFolders();
const service = createServer((socket) => socket.end());
let git: GitProgram;
let own: string;
let other: string;

async function makeRepository(name: string): Promise<string> {
  const gitDir = path.join(folders.make(), `${name}.git`);
  mkdirSync(gitDir);
  await runGit(git, ['init', '--bare', '--quiet', gitDir], { gitDir });
  await runGit(git, ['hash-object', '-w', '--stdin'], { gitDir, input: 'content' });
  return gitDir;
}

beforeAll(async () => {
  git = await prepareGit(path.join(folders.make(), 'git'), process.env['PATH'] ?? '');
  [own, other] = [await makeRepository('own'), await makeRepository('other')];
  writeFileSync(path.join(other, 'secret'), 'secret');
  await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  service.close();
  await folders.removeAll();
});

/** Runs a command in git's own shell, as a compromised git would. */
const inShell = (command: string): Promise<string> =>
  runGit(git, ['-c', `alias.taken=!${command}`, 'taken'], { gitDir: own }).then(
    ({ stdout }) => stdout.toString(),
    (error: Error) => error.message,
  );

const confinement = await openConfinement();
if (!confinement.holds) console.error(`!!! NOT TESTED: confinement of git. ${confinement.description}`);

it.runIf(confinement.holds)('git works confined where programs can be confined', () => {
  expect(git.unconfinedBecause).toBeUndefined();
});

describe.runIf(confinement.holds)('a git that was taken over', () => {
  it('works on its own repository', async () => {
    expect(await inShell('echo new >made; cat made')).toBe('new\n');
  });

  it.each([
    ['read a file of another repository', () => `cat ${other}/secret`],
    ['write into another repository', () => `echo x >${other}/made`],
    [
      'read the objects of another repository',
      () => `git --git-dir=${other} cat-file --batch-all-objects --batch-check`,
    ],
    ['read the users of this machine', () => 'cat /etc/passwd'],
    ['read what the server was started with', () => `cat /proc/${process.pid}/environ`],
    ['signal the server', () => `kill -0 ${process.pid}`],
    ['start another program', () => '/usr/bin/env'],
    ['connect', () => `git ls-remote git://127.0.0.1:${(service.address() as AddressInfo).port}/x`],
    ['change the settings of git', () => `git config --global core.pager x`],
    ['change the hooks', () => `echo x >>"$(git config core.hooksPath)/pre-receive"`],
  ])('can not %s', async (_, command) => {
    expect(await inShell(command())).toMatch(/denied|not permitted|not a git repository|could not lock/i);
  });

  it('gets no more memory than it may have', async () => {
    const maxDataBytes = 192 * 2 ** 20;
    git = await prepareGit(path.join(folders.make(), 'git'), process.env['PATH'] ?? '', { maxDataBytes });
    const file = path.join(git.stagingFolder, 'large');
    writeFileSync(file, '');
    truncateSync(file, 1.5 * maxDataBytes);
    expect(await inShell(`cat ${file} | git hash-object --stdin`)).toMatch(/out of memory/i);
  });
});
