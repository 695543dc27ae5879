import { pino } from 'pino';
import { afterEach, beforeEach, expect, it, onTestFinished } from 'vitest';
import { Pairings } from '../adb/pairings.ts';
import { hasAdb } from './testing/adb-server-fixture.ts';
import { createPhoneTestBed, type PhoneTestBed, waitForState } from './testing/phone-test-bed.ts';
import type { ScriptedAdbServer } from './testing/scripted-adb-server.ts';

let bed: PhoneTestBed;
let adb: ScriptedAdbServer;
beforeEach(async () => {
  bed = await createPhoneTestBed();
  adb = await bed.startScriptedAdb();
  adb.services = [['phalanx-other', '_adb-tls-pairing._tcp', '192.168.1.9:40000']];
});
afterEach(async () => {
  await bed.close();
});

const guid = 'adb-SIM1-Xk3uVa';
const password = 'k3gTw82hPq';
const scan = (): void =>
  void (adb.services = [
    ...(adb.services ?? []),
    ['phalanx-1', '_adb-tls-pairing._tcp.', '192.168.1.20:37099'],
  ]);
const paired = `Successfully paired to 192.168.1.20:37099 [guid=${guid}]`;

function openPairings(options: Partial<ConstructorParameters<typeof Pairings>[0]> = {}): Pairings {
  const log = pino({ level: 'silent' });
  const pairings = new Pairings({ adbServer: adb.address, log, lookMs: 30, ...options });
  onTestFinished(() => pairings.close());
  return pairings;
}

it('a phone that scans the code is paired with the ADB server and connected', async () => {
  const phone = await bed.startPreparedPhone({ serial: 'SIM1' });
  const watch = bed.watch({ adbServer: adb.address });
  adb.answers.set(`host:pair:${password}:192.168.1.20:37099`, () => {
    adb.services = [[guid, '_adb-tls-connect._tcp', '192.168.1.20:41235']];
    return paired;
  });
  adb.answers.set('host:connect:192.168.1.20:41235', () => {
    adb.plug({ serial: '192.168.1.20:41235', state: 'device', phone });
    return 'connected to 192.168.1.20:41235';
  });
  const pairings = openPairings();
  expect(pairings.start('phalanx-1', password)).toMatchObject({ state: 'waiting', serial: null });
  await expect.poll(() => adb.requests).toContain('host:mdns:services');
  expect(pairings.find('phalanx-1')?.state).toBe('waiting');
  scan();
  await expect
    .poll(() => pairings.find('phalanx-1'))
    .toMatchObject({ id: 'phalanx-1', state: 'connected', serial: 'SIM1' });
  await waitForState(watch, 'SIM1', 'ready');
  expect(pairings.find('phalanx-2')).toBeUndefined();
});

it('adb is left to connect a paired phone by itself', async () => {
  const phone = await bed.startPreparedPhone({ serial: 'SIM1' });
  adb.answers.set('host:pair:', () => {
    adb.plug({ serial: `${guid}._adb-tls-connect._tcp`, state: 'device', phone });
    return paired;
  });
  const pairings = openPairings();
  pairings.start('phalanx-1', password);
  scan();
  await expect.poll(() => pairings.find('phalanx-1')?.state).toBe('connected');
  expect(adb.requests.filter((request) => request.startsWith('host:connect:'))).toEqual([]);
});

it('what is in the way is told: no scan, a wrong password, no mDNS, no server', async () => {
  const reasonOf = async (pairings: Pairings): Promise<string | undefined> => {
    pairings.start('phalanx-1', password);
    await expect.poll(() => pairings.find('phalanx-1')?.state).toBe('failed');
    return pairings.find('phalanx-1')?.reason;
  };
  expect(await reasonOf(openPairings({ scanMs: 100 }))).toContain('No phone has scanned the code');
  scan();
  adb.answers.set('host:pair:', () => 'Failed: Wrong password or connection was dropped.');
  expect(await reasonOf(openPairings())).toMatch(/Wrong password.*Scan a new code/);
  adb.answers.set('host:mdns:check', () => 'ERROR: mdns discovery disabled');
  expect(await reasonOf(openPairings())).toContain('mdns discovery disabled');
  adb.answers.delete('host:mdns:check');
  adb.services = undefined;
  expect(await reasonOf(openPairings())).toContain('has no mDNS');
  expect(await reasonOf(openPairings({ adbServer: { host: '127.0.0.1', port: 1 } }))).toContain(
    'adb start-server',
  );
  expect(() => openPairings({ adbServer: undefined }).start('phalanx-1', password)).toThrow(
    'PHALANX_ADB_SERVER is off',
  );
});

it.skipIf(!(await hasAdb()))('a real adb says whether it can find phones', async () => {
  const real = await bed.startAdb();
  const pairings = openPairings({ adbServer: real.address, scanMs: 100 });
  pairings.start('phalanx-1', password);
  await expect.poll(() => pairings.find('phalanx-1')?.state).toBe('failed');
  expect(pairings.find('phalanx-1')?.reason).toMatch(
    /has no mDNS|mDNS .* does not work|No phone has scanned/,
  );
});
