import { randomUUID } from 'node:crypto';
import type { PhoneInput, ScreenTree, UiNode } from '@phalanx/protocol';
import { expect, it } from 'vitest';

import { launchOf } from '../../testing/launch-of.ts';
import { serial, useTestHost } from '../../testing/test-host.ts';
import { findNode } from '../find-node.ts';

const host = useTestHost();
const secret = 'Hunter2-of-Alice';

async function answered(request_id: string): Promise<string> {
  const isAnswer = (arrival: (typeof host.service.arrivals)[number]): boolean =>
    'requestId' in arrival && arrival.requestId === request_id;
  await host.service.until(() => host.service.arrivals.some(isAnswer));
  const found = host.service.arrivals.find(isAnswer);
  return found !== undefined && 'bytes' in found ? found.bytes.toString() : '';
}

async function readCity(): Promise<UiNode | undefined> {
  const request_id = randomUUID();
  host.service.send({ type: 'screen', request_id, serial, width: null, picture: false });
  const { tree }: { tree: ScreenTree } = JSON.parse(await answered(request_id));
  return findNode(tree.root, ({ viewId }) => viewId?.endsWith(':id/city') === true);
}

/** Returns an empty text when the input was done, otherwise the reason why it was not. */
async function input(what: PhoneInput, by?: string): Promise<string> {
  const request_id = randomUUID();
  const touch = by === undefined ? {} : { touch: { device_id: 'device-1', lease: 0, by } };
  host.service.send({ type: 'input', request_id, serial, input: what, ...touch });
  await answered(request_id);
  const found = host.service.arrivals.find((one) => 'requestId' in one && one.requestId === request_id);
  return found?.kind === 'request_failed' ? found.message : '';
}

it('a field in which a secret was typed shows nothing, whatever becomes of its text, until it is empty', async () => {
  host.phone.android.startActivity('dev.phalanx.sample.form');
  const field = (await readCity())?.boundsInScreen;
  await input({ type: 'tap', x: (field?.left ?? 0) + 10, y: (field?.top ?? 0) + 10 });
  const runId = randomUUID();
  const launch = launchOf("await agent.secrets.type('PASSWORD');", [
    { run_id: runId, device_id: 'device-1', serial },
  ]);
  host.service.send({ ...launch, secrets: { PASSWORD: secret } });
  await host.service.untilEnded(runId);
  expect(host.phone.android.findFieldText('city')).toBe(secret);
  expect((await readCity())?.text).toBeNull();
  for (let left = secret.length; left > 1; left -= 1) {
    await input({ type: 'key', key_code: 67 });
    if (left % 5 === 0) expect((await readCity())?.text).toBeNull();
  }
  expect(host.phone.android.findFieldText('city')).toBe('H');
  expect((await readCity())?.text).toBeNull();
  await input({ type: 'key', key_code: 67 });
  await readCity();
  await input({ type: 'text', text: 'Graz' });
  expect((await readCity())?.text).toBe('Graz');
});

it('nobody else touches the app in which a secret stands, but leaves it', async () => {
  host.phone.android.startActivity('dev.phalanx.sample.form');
  const field = (await readCity())?.boundsInScreen;
  const [x, y] = [(field?.left ?? 0) + 10, (field?.top ?? 0) + 10];
  await input({ type: 'tap', x, y });
  const runId = randomUUID();
  const launch = launchOf("await agent.secrets.type('PASSWORD');", [
    { run_id: runId, device_id: 'device-1', serial, by: 'alice' },
  ]);
  host.service.send({ ...launch, secrets: { PASSWORD: secret } });
  await host.service.untilEnded(runId);
  const tap: PhoneInput = { type: 'tap', x, y };
  expect(await input(tap, 'mallory')).toContain('A secret that somebody else has typed stands in a field');
  expect(await input({ type: 'key', key_code: 67 }, 'mallory')).toContain('Press Home');
  expect(await input(tap, 'alice')).toBe('');
  const hostile = randomUUID();
  const copies = `await agent.actions.tap(${x}, ${y});`;
  host.service.send(launchOf(copies, [{ run_id: hostile, device_id: 'device-1', serial, by: 'mallory' }]));
  expect(JSON.stringify(await host.service.untilEnded(hostile))).toContain(
    'A secret that somebody else has typed',
  );
  expect(await input({ type: 'key', key_code: 3 }, 'mallory')).toBe('');
  expect(await input(tap, 'mallory')).toBe('');
});
