import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { projectRoutes } from '@phalanx/protocol';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { TestService } from '../../testing/test-service.ts';

const main = fileURLToPath(new URL('../../main.ts', import.meta.url));

let service: TestService;
beforeAll(async () => {
  service = await TestService.start(2);
  await service.api.call(projectRoutes.create, { body: { name: 'check out' } });
  await mkdir(path.join(service.folder, 'bin'));
  const program = `#!/bin/sh\nexec '${process.execPath}' '${main}' "$@"\n`;
  await writeFile(path.join(service.folder, 'bin', 'phalanx'), program, { mode: 0o755 });
});
afterAll(() => service.stop());

/** Returns the words that bash would offer for the last word. */
async function offered(...words: string[]): Promise<string[]> {
  const script = `source <(phalanx completion bash)
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _phalanx; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const env = { ...service.env, PATH: `${path.join(service.folder, 'bin')}:${process.env['PATH']}` };
  const { stdout } = await promisify(execFile)('bash', ['-c', script, 'bash', 'phalanx', ...words], { env });
  return stdout.split('\n').filter(Boolean);
}

test('commands of both kinds, their parts and their options are completed', async () => {
  expect(await offered('s')).toEqual([
    'schedules',
    'screen',
    'secret',
    'send',
    'server',
    'shares',
    'simulate',
    'start',
    'stats',
    'stop',
  ]);
  expect(await offered('project', 'co')).toEqual(['commit']);
  expect(await offered('runs', '--st')).toEqual(['--status']);
  expect(await offered('runs', '--status', 'f')).toEqual(['failed']);
  expect(await offered('start', '--simulated')).toEqual(['--simulated-phones']);
});

test('phones and projects are completed by their names', async () => {
  expect(await offered('run', '--device', 'SIM')).toEqual(['SIM0001', 'SIM0002']);
  expect(await offered('logs', '')).toEqual(['SIM0001', 'SIM0002']);
  expect(await offered('logs', 'SIM0001', 'ch')).toEqual(['check\\ out']);
});

test.each(['zsh', 'fish'])('%s has a script of its own', async (shell) => {
  const { code, stdout } = await service.run(['completion', shell]);
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('phalanx completion words') });
});
