import { execFile } from 'node:child_process';
import { glob, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const program = fileURLToPath(new URL('../../apps/console/build/write-bundle.ts', import.meta.url));

test('the console is built for users, whatever the environment of the service says', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'phalanx-built-'));
  try {
    await promisify(execFile)(process.execPath, [program, folder], {
      env: { ...process.env, NODE_ENV: 'development' },
    });
    const scripts: string[] = [];
    for await (const file of glob(`${folder}/assets/*.js`)) scripts.push(await readFile(file, 'utf8'));
    expect(scripts.length).toBeGreaterThan(5);
    // Warning that exists only in the development build of React.
    expect(scripts.some((text) => text.includes('Each child in a list'))).toBe(false);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
