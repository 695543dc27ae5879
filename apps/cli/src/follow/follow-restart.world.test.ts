import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

import { CliProcess, runCli } from '../testing/cli-process.ts';
import { adminToken } from '../testing/test-service.ts';
import { until } from '@phalanx/host/testing/until';

const lineCount = 600;

let folder: string;
let listen: string;
let server: CliProcess;
let host: CliProcess;

const env = (): Record<string, string> => ({
  PHALANX_SERVER_URL: `http://${listen}`,
  PHALANX_TOKEN: adminToken,
  XDG_CONFIG_HOME: folder,
});

async function startServer(): Promise<void> {
  server = new CliProcess(['server'], {
    env: {
      PHALANX_LISTEN: listen,
      PHALANX_DATA_DIR: path.join(folder, 'server'),
      PHALANX_ADMIN_TOKEN: adminToken,
      PHALANX_LOG_LEVEL: 'silent',
    },
  });
  await server.printed((stdout) => stdout.includes('Phalanx server is at'));
}

async function untilReady(): Promise<void> {
  await until(
    'SIM0001 as ready',
    () => runCli(['devices'], { env: env() }),
    ({ stdout }) => /^SIM0001 +ready /m.test(stdout),
  );
}

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'phalanx-follow-'));
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const address = probe.address();
  listen = `127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
  await new Promise((resolve) => probe.close(resolve));
  await startServer();
  host = new CliProcess(['host', '--simulated-phones', '1', '--adb-server', 'off'], {
    env: { ...env(), PHALANX_DATA_DIR: path.join(folder, 'host'), PHALANX_LOG_LEVEL: 'silent' },
  });
  await untilReady();
});

afterEach(async () => {
  await Promise.all([host.end('SIGTERM'), server.end('SIGTERM')]);
  await rm(folder, { recursive: true, force: true });
});

test('across a kill -9 of the server --follow prints every line once, in order, with a notice, and ends with 0', async () => {
  const file = path.join(folder, 'lines.ts');
  await writeFile(
    file,
    `for (let n = 1; n <= ${lineCount}; n++) { console.log('line ' + n); if (n % 10 === 0) await agent.actions.sleep(50); }`,
  );
  const following = new CliProcess(['exec', file, '--device', 'SIM0001', '--follow'], { env: env() });
  await following.printed((stdout) => stdout.includes('line 100\n'));
  await server.end('SIGKILL');
  await following.printed((_stdout, stderr) => stderr.includes('cannot be reached'));
  await startServer();
  const { code, stdout, stderr } = await following.result();
  const numbers = [...stdout.matchAll(/ line (\d+)$/gm)].map(([, number]) => Number(number));
  expect(numbers).toEqual(Array.from({ length: lineCount }, (_, index) => index + 1));
  expect(stderr).toMatch(/cannot be reached .* Retrying until it answers/);
  expect(stderr).toContain('The server answers again.');
  expect(stderr).toMatch(/SIM0001: the run completed/);
  expect(code).toBe(0);
});
