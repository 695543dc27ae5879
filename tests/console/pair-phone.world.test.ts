import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { until } from '@phalanx/host/testing/until';
import { startSimulatedPhone } from '@phalanx/simulated-phone';
import { formatAddress } from '@phalanx/settings';
import { afterAll, expect, onTestFinished } from 'vitest';

import { startScriptedAdbServer } from '../../apps/host/src/phones/testing/scripted-adb-server.ts';
import { findViolations } from './support/axe.ts';
import { openWindow, signIn } from './support/browser.ts';
import { stage } from './support/stage.ts';
import { story } from './support/story.ts';

const folder = await mkdtemp(path.join(tmpdir(), 'phalanx-pairing-'));
const adb = await startScriptedAdbServer(folder);
adb.services = [];
afterAll(async () => {
  await adb.close();
  await rm(folder, { recursive: true, force: true });
});
const here = stage(1, { PHALANX_ADB_SERVER: formatAddress(adb.address) });

/** Simulates a phone that has scanned a code with this name and pairs only with this password. */
async function scan(serial: string, name: string, password?: string): Promise<void> {
  const phone = await startSimulatedPhone({ serial });
  onTestFinished(() => phone.stop());
  const guid = `adb-${serial}-Xk3uVa`;
  adb.answers.set('host:pair:', (request) => {
    if (password !== undefined && request !== `host:pair:${password}:192.168.1.20:37099`)
      return 'Failed: Wrong password or connection was dropped.';
    adb.plug({ serial: `${guid}._adb-tls-connect._tcp`, state: 'device', phone });
    return `Successfully paired to 192.168.1.20:37099 [guid=${guid}]`;
  });
  adb.services = [[name, '_adb-tls-pairing._tcp', '192.168.1.20:37099']];
}

story('a phone is paired by a code in the console, and another one by a code in the terminal', async () => {
  const { service, browser } = here;
  const { page, problems } = await openWindow(browser);
  await signIn(page, service.url, service.token);
  await page.goto(`${service.url}/devices`);
  await page.getByRole('button', { name: 'Pair a phone…' }).click();
  const started = page.waitForResponse((response) => response.url().endsWith('/pairings'));
  await page.getByRole('button', { name: 'Show the code' }).click();
  const { code } = (await (await started).json()) as { code: string };
  await page.getByRole('img', { name: 'QR code for the phone' }).waitFor();
  await page.getByText('Waiting for a phone that scans the code.').waitFor();
  expect(await findViolations(page)).toEqual([]);
  const [, name = '', password = ''] = /^WIFI:T:ADB;S:([^;]+);P:([^;]+);;$/.exec(code) ?? [];
  await scan('PAIRED1', name, password);
  await page.getByText('PAIRED1: The phone is connected.').waitFor();
  await page.getByRole('button', { name: 'Close' }).click();
  await page.getByRole('link', { name: 'PAIRED1' }).waitFor();
  expect(problems).toEqual([]);

  const command = service.run('phalanx', ['phone', 'pair']);
  const { entries } = await until(
    'the second pairing',
    () => service.call('GET', '/api/v2/audit?action=pair_phone'),
    (now) => (now['entries'] as unknown[]).length === 2,
  );
  const [newest] = entries as { details: { pairing_id: string } }[];
  await scan('PAIRED2', newest?.details.pairing_id ?? '');
  const printed = await command;
  expect(printed).toMatch(/[▀▄█]{10}/);
  expect(printed).toContain('PAIRED2: The phone is connected.');
  await until(
    'both phones',
    async () =>
      (await service.call('GET', '/api/v2/devices?search=PAIRED'))['devices'] as { state: string }[],
    (devices) => devices.filter(({ state }) => state === 'ready').length === 2,
  );
});
