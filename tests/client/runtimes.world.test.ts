import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { pathToFileURL } from 'node:url';
import { runRoutes } from '@phalanx/protocol';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { findChromium, openBrowser } from '../console/support/browser.ts';
import { Cable } from '../support/cable.ts';
import { Installation } from '../support/installation.ts';
import { areOtherToolsHere, otherTool, root } from './other-tools.ts';

const run = promisify(execFile);
const packed = path.join(root, 'packages/client/dist/index.js');
const checkFile = path.join(import.meta.dirname, 'runtime-check.js');
const cutEveryMs = 300;

let installation: Installation;
let cable: Cable;

beforeAll(async () => {
  await run(process.execPath, [path.join(root, 'scripts/pack-client.ts')]);
  installation = await Installation.start(1);
  cable = await Cable.to(installation.url);
});
afterAll(async () => {
  cable.close();
  await installation.stop();
});

const upTo = (count: number): string[] => Array.from({ length: count }, (_, index) => `line ${index + 1}`);
const expected = {
  read: upTo(60),
  told: upTo(60),
  outcome: 'succeeded',
  result: { lines: 60 },
  uploaded: ['uploaded: é 中 🎈'],
  paths: ['data.json', 'main.ts'],
  refusal: { isTyped: true, code: 'device_not_found', status: 404 },
};

async function inputOf(): Promise<object> {
  const [device] = await installation.readyDevices();
  return { url: cable.url, token: installation.callerSettings['PHALANX_TOKEN'], deviceId: device?.device_id };
}

async function isRunning(): Promise<boolean> {
  const { runs } = await installation.api.call(runRoutes.list, { query: { status: 'running' } });
  return runs.some(({ name }) => name === 'lines.ts');
}

/** Cuts the client's connections repeatedly during its run. */
async function withCuts<Result>(work: Promise<Result>): Promise<Result> {
  const over = new AbortController();
  const end = (): void => over.abort();
  work.then(end, end);
  let cuts = 0;
  for (; !over.signal.aborted; await sleep(cutEveryMs)) {
    if (!(await isRunning())) continue;
    cable.cut();
    cuts += 1;
  }
  const result = await work;
  expect(cuts).toBeGreaterThan(0);
  return result;
}

const deno = [otherTool('@deno/linux-x64-glibc/deno'), 'run', '--allow-net', '--allow-read', '--no-prompt'];
const runtimes: [name: string, version: RegExp, command: string[], isHere: boolean][] = [
  ['the Node of the service', /^v24\./, [process.execPath], true],
  ['Node 20', /^v20\./, [otherTool('node20/bin/node')], areOtherToolsHere],
  ['Node 22', /^v22\./, [otherTool('node22/bin/node')], areOtherToolsHere],
  ['Bun', /^1\./, [otherTool('@oven/bun-linux-x64/bin/bun')], areOtherToolsHere],
  ['Deno', /^deno 2\./, deno, areOtherToolsHere],
];

test.for(runtimes)(
  'the packed client loses and repeats nothing over cuts in %s',
  async (runtime, { skip }) => {
    const [, version, [program = '', ...args], isHere] = runtime;
    if (!isHere) skip();
    expect((await run(program, ['--version'])).stdout).toMatch(version);
    const main = path.join(import.meta.dirname, 'runtime-main.js');
    const client = pathToFileURL(packed).href;
    const command = [...args, main, client, JSON.stringify(await inputOf())];
    const { stdout } = await withCuts(run(program, command, { timeout: 120_000 }));
    expect(JSON.parse(stdout)).toEqual(expected);
  },
);

test.skipIf(findChromium() === undefined)(
  'the packed client loses and repeats nothing over cuts in Chromium',
  async () => {
    const browser = await openBrowser();
    try {
      // The console's own policy blocks other scripts.
      const context = await browser.newContext({ bypassCSP: true });
      const page = await context.newPage();
      await page.goto(`${cable.url}/docs/`);
      const given = {
        client: await readFile(packed, 'utf8'),
        check: await readFile(checkFile, 'utf8'),
        input: { ...(await inputOf()), url: '' },
      };
      const outcome = page.evaluate(`(async ({ client, check, input }) => {
        const load = (code) => import(URL.createObjectURL(new Blob([code], { type: 'text/javascript' })));
        return (await load(check)).check(await load(client), input);
      })(${JSON.stringify(given)})`);
      expect(await withCuts(outcome)).toEqual(expected);
    } finally {
      await browser.close();
    }
  },
);
