import { readFile } from 'node:fs/promises';
import { groupRoutes, recordRoutes } from '@phalanx/protocol';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { Installation } from './support/installation.ts';
import { Program } from './support/program.ts';

const sample = new URL('../apps/cli/samples/out-of-steps.ts', import.meta.url);

let installation: Installation;
let deviceId: string;

beforeAll(async () => {
  installation = await Installation.start(1);
  deviceId = (await installation.readyDevices())[0]?.device_id ?? '';
});
afterAll(() => installation.stop());

async function phalanx(...commandLine: string[]): Promise<string> {
  const program = new Program(commandLine, installation.callerSettings);
  await program.exited;
  return program.output;
}

test('an automation that meets an unknown screen leaves a record whose captures open without a header', async () => {
  const launchId = await installation.launch(deviceId, await readFile(sample, 'utf8'));
  expect(await installation.endedRun(launchId)).toMatchObject({ status: 'completed' });
  const record = await installation.wholeRecord(launchId);
  expect(record).toMatchObject({
    automation_id: launchId,
    automation_name: 'Direct automation',
    type: 'outOfSteps',
    status: 'pending',
    tag: 'default',
    saved: false,
  });
  const last = record.screens.at(-1);
  expect(last).toMatchObject({ nextStage: 'back in the surprise app', screenState: 'unknown' });
  const picture = await fetch(last?.screenshot.screenshotUrl ?? '');
  expect(picture.headers.get('content-type')).toBe('image/jpeg');
  const tree = await fetch(last?.uiUrl ?? '');
  expect(await tree.text()).toContain('Network & internet');
});

test('an uncaught error leaves a crash record', async () => {
  const launchId = await installation.launch(deviceId, `throw new Error('no luck')`);
  await installation.endedRun(launchId);
  expect(await installation.wholeRecord(launchId)).toMatchObject({ type: 'crash', status: 'pending' });
});

test('records are reviewed from the command line', async () => {
  expect(await phalanx('records', 'list', '--status', 'pending')).toMatch(/outOfSteps|crash/);
  const { result } = await installation.api.call(recordRoutes.list, { query: { type: 'outOfSteps' } });
  const id = result?.out_of_steps_id ?? '';
  expect(await phalanx('records', 'show', id)).toMatch(/TextView #title "Network & internet"/);
  expect(await phalanx('records', 'solve', id)).toContain('marked as solved');
  expect(await phalanx('records', 'skip', id)).toContain('cannot be changed');
  expect(await phalanx('records', 'save', id)).toContain('saved');
  expect(await phalanx('records', 'list', '--status', 'solved', '--json')).toContain(id);
});

test('groups of records are reviewed from the command line', async () => {
  const { groups } = await installation.api.call(groupRoutes.list, { query: {} });
  const group = groups.find((one) => one.sample?.type === 'outOfSteps');
  const id = group?.id ?? '';
  expect(await phalanx('groups')).toContain(id);
  expect(await phalanx('groups', 'show', id.slice(-8))).toMatch(/network & internet.*\n[^]*the first one/);
  expect(await phalanx('groups', 'solve', id, '--keep-records')).toContain('solved, 1 record of 1 phone');
  expect(await phalanx('groups', 'undo', id)).toContain('open');
  expect(await phalanx('groups', 'undo', id)).toContain('can be undone');
  expect(await phalanx('groups', 'assign', id)).toMatch(/open, \w+/);
  expect(await phalanx('groups', '--mine', '--json')).toContain(id);
  expect(await phalanx('groups', 'split', id, group?.sample?.record_id ?? '')).toContain('not all of them');
  expect(await phalanx('groups', 'merge', id, '0000')).toContain('no group');
  expect(await phalanx('groups', 'ignore', id)).toContain('ignored');
  expect(await phalanx('groups', 'reopen', id)).toContain('open');
});
