import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadHostKey } from './host-key.ts';

describe("the host's key", () => {
  let dataDir: string;
  beforeEach(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'phalanx-key-'));
  });
  afterEach(async () => {
    await rm(dataDir, { recursive: true, force: true });
  });

  it('makes the key once, readable by its owner only', async () => {
    const folder = join(dataDir, 'not', 'there', 'yet');
    const first = await loadHostKey(folder);
    const second = await loadHostKey(folder);
    expect(second.privateKey.equals(first.privateKey)).toBe(true);
    expect((await stat(join(folder, 'adb-key.pem'))).mode & 0o777).toBe(0o600);
  });

  it('ends with one key when two hosts start at once', async () => {
    const [a, b] = await Promise.all([loadHostKey(dataDir), loadHostKey(dataDir)]);
    expect(a.privateKey.equals((await loadHostKey(dataDir)).privateKey)).toBe(true);
    expect(b.privateKey.equals(a.privateKey)).toBe(true);
  });

  it('says what to do with a broken key file', async () => {
    await writeFile(join(dataDir, 'adb-key.pem'), 'broken');
    await expect(loadHostKey(dataDir)).rejects.toThrow('Delete the file');
  });
});
