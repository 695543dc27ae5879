import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const SCRIPT = `
import { installPackages } from ${JSON.stringify(new URL('install-packages.mjs', import.meta.url).href)};
await installPackages(process.argv[2]).catch((error) => { console.error(error.message); process.exitCode = 1; });
`;

let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'install-packages-'));
  writeLock('1.0.0');
  writeFileSync(join(root, 'install.mjs'), SCRIPT);
});

afterEach(() => rmSync(root, { recursive: true }));

/** Creates a root with one workspace and nothing to download, so that npm needs no network. */
function writeLock(version: string): void {
  const manifest = { name: 'root', version, private: true, workspaces: ['a'] };
  const workspace = { name: 'a', version };
  const packages = { '': manifest, a: workspace, 'node_modules/a': { resolved: 'a', link: true } };
  mkdirSync(join(root, 'a'), { recursive: true });
  writeFileSync(join(root, 'a', 'package.json'), JSON.stringify(workspace));
  writeFileSync(join(root, 'package.json'), JSON.stringify(manifest));
  const lock = { name: 'root', version, lockfileVersion: 3, requires: true, packages };
  writeFileSync(join(root, 'package-lock.json'), JSON.stringify(lock));
}

async function install(): Promise<{ code: number | null; output: string }> {
  const child = spawn(process.execPath, [join(root, 'install.mjs'), root], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output += text));
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { code, output };
}

describe('the installer of packages', () => {
  it('installs once, says so in two lines, is silent from then on, and installs again for another lock', async () => {
    const first = await install();
    expect(first).toMatchObject({
      code: 0,
      output: expect.stringMatching(/^.+installing.+\n.+installed in \d+ s.\n$/),
    });
    expect(existsSync(join(root, 'node_modules', 'a'))).toBe(true);
    expect(await install()).toEqual({ code: 0, output: '' });
    writeLock('2.0.0');
    expect((await install()).output).toContain('packages installed');
  });

  it('lets one of two starts at the same time install, and the other wait for it', async () => {
    const outputs = (await Promise.all([install(), install()])).map(({ output }) => output).join('');
    expect(outputs.match(/packages installed/g)).toHaveLength(1);
  });

  it('waits for nobody after a start that was killed', async () => {
    const killed = spawn(process.execPath, [join(root, 'install.mjs'), root], { stdio: 'pipe' });
    await once(killed.stderr, 'data');
    killed.kill('SIGKILL');
    await once(killed, 'exit');
    expect(await install()).toMatchObject({ code: 0, output: expect.stringContaining('packages installed') });
  });

  it("shows npm's own output and what to do when npm fails", async () => {
    writeFileSync(join(root, 'package.json'), JSON.stringify({ name: 'root', dependencies: { b: '1.0.0' } }));
    const { code, output } = await install();
    expect(code).toBe(1);
    expect(output).toMatch(
      /npm error[^]+could not be installed \(npm ci: exit 1[^]+run the same command again/,
    );
  });
});
