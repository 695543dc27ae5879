import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test, vi } from 'vitest';

import { firstTokenNotice } from './server.ts';

test('output that is no terminal gets the place of the first token and not the token', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'phalanx-first-'));
  const log = vi.spyOn(console, 'log').mockImplementation(() => undefined);
  try {
    firstTokenNotice('phx_secret', folder);
    const file = path.join(folder, 'first-token');
    expect(log.mock.calls.flat().join('\n')).toContain(file);
    expect(log.mock.calls.flat().join('\n')).not.toContain('phx_secret');
    expect(await readFile(file, 'utf8')).toBe('phx_secret\n');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
  } finally {
    log.mockRestore();
    await rm(folder, { recursive: true, force: true });
  }
});
