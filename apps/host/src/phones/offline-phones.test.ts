import { freePort } from '@phalanx/simulated-phone/testing/free-port';
import { afterEach, beforeEach, expect, it } from 'vitest';
import {
  createPhoneTestBed,
  type PhoneTestBed,
  waitForPhone,
  waitForState,
} from './testing/phone-test-bed.ts';
import type { ScriptedAdbServer } from './testing/scripted-adb-server.ts';

let bed: PhoneTestBed;
let adb: ScriptedAdbServer;
beforeEach(async () => {
  bed = await createPhoneTestBed();
  adb = await bed.startScriptedAdb();
});
afterEach(async () => {
  await bed.close();
});

const reconnectPauses = { firstMs: 100, maxMs: 400 };

/** Returns an answer to reconnections that calls `take` at the given attempt. */
function answerAt(attempt: number, take: () => void): (request: string) => string {
  let attempts = 0;
  return () => {
    attempts += 1;
    if (attempts === attempt) take();
    return 'reconnecting';
  };
}

it('a phone at USB that adb has as offline from the start is reconnected until it answers, which its history tells', async () => {
  const phone = await bed.startPreparedPhone({ serial: 'SIM1' });
  const row = adb.plug({ serial: 'SIM1', state: 'offline', usb: '1-4', phone });
  adb.answers.set(
    'host-transport-id:1:reconnect',
    answerAt(5, () => {
      row.state = 'device';
      adb.tell();
    }),
  );
  const watch = bed.watch({ adbServer: adb.address, reconnectPauses });
  const offline = await waitForPhone(watch, ({ state }) => state.reason.includes('(try 4)'));
  expect(offline.state).toMatchObject({
    state: 'offline',
    reason: expect.stringMatching(
      /gets no answer \(offline\).* adb was told to reconnect it at .* UTC \(try 4\), next try in .* Plug it in again/,
    ),
  });
  await waitForState(watch, 'SIM1', 'ready');
  expect(watch.phones()).toHaveLength(1);
  expect(adb.requests.filter((request) => request.endsWith(':reconnect'))).toHaveLength(5);
});

it('a phone of before a restart of the host keeps its history while it is offline', async () => {
  const phone = await bed.startPreparedPhone({ serial: 'SIM1' });
  const row = adb.plug({ serial: 'SIM1', state: 'device', usb: '1-4', phone });
  const first = bed.watch({ adbServer: adb.address, reconnectPauses });
  const before = (await waitForState(first, 'SIM1', 'ready')).history.list();
  await first.close();
  row.state = 'offline';
  const watch = bed.watch({ adbServer: adb.address, reconnectPauses });
  const offline = await waitForPhone(watch, ({ history }) => history.lastRepair !== null);
  expect(offline.isIdentified).toBe(true);
  expect(offline.history.list().slice(0, before.length)).toEqual(before);
  expect(offline.history.lastRepair).toMatchObject({
    kind: 'repair',
    step: 'reconnect',
    state: 'offline',
    reason: expect.stringContaining('adb was told to reconnect'),
  });
  row.state = 'device';
  adb.tell();
  await waitForState(watch, 'SIM1', 'ready');
  expect(watch.phones()).toEqual([offline]);
});

it('a phone on the network is disconnected and connected, also after it has left the list', async () => {
  const phone = await bed.startPreparedPhone({ serial: 'SIM1' });
  const listed = { serial: '192.168.1.20:5555', usb: undefined, phone };
  const row = adb.plug({ ...listed, state: 'device' });
  const watch = bed.watch({ adbServer: adb.address, reconnectPauses });
  const ready = await waitForState(watch, 'SIM1', 'ready');
  adb.answers.set('host:disconnect:', () => {
    adb.unplug(row.serial);
    return 'disconnected 192.168.1.20:5555';
  });
  let attempts = 0;
  adb.answers.set('host:connect:', () => {
    attempts += 1;
    if (attempts < 3) return "failed to connect to '192.168.1.20:5555': No route to host";
    adb.plug({ ...listed, state: 'device' });
    return 'connected to 192.168.1.20:5555';
  });
  row.state = 'offline';
  adb.tell();
  await expect.poll(() => ready.state.reason).toContain('No route to host');
  await waitForState(watch, 'SIM1', 'ready');
  expect(watch.phones()).toEqual([ready]);
  expect(adb.requests.filter((request) => request.startsWith('host:connect:'))).toHaveLength(3);
});

it('a phone whose port has changed is found again by mDNS', async () => {
  const phone = await bed.startPreparedPhone({ serial: 'SIM1' });
  adb.services = [
    ['adb-SIM2-vWgJpq', '_adb-tls-connect._tcp', '192.168.1.21:37001'],
    ['adb-SIM1-Xk3uVa', '_adb-tls-connect._tcp', '192.168.1.20:41235'],
  ];
  adb.plug({ serial: '192.168.1.20:39999', state: 'offline', phone });
  adb.answers.set('host:disconnect:', () => {
    adb.unplug('192.168.1.20:39999');
    return 'disconnected';
  });
  adb.answers.set('host:connect:192.168.1.20:41235', () => {
    adb.plug({ serial: '192.168.1.20:41235', state: 'device', phone });
    return 'connected to 192.168.1.20:41235';
  });
  const watch = bed.watch({ adbServer: adb.address, reconnectPauses });
  await waitForState(watch, 'SIM1', 'ready');
  expect(watch.phones()).toHaveLength(1);
});

it('a phone that somebody disconnects stays away', async () => {
  const phone = await bed.startPreparedPhone({ serial: 'SIM1' });
  adb.plug({ serial: '192.168.1.20:5555', state: 'device', phone });
  const watch = bed.watch({ adbServer: adb.address, reconnectPauses });
  await waitForState(watch, 'SIM1', 'ready');
  adb.unplug('192.168.1.20:5555');
  const away = await waitForState(watch, 'SIM1', 'offline');
  expect(away.state.reason).toContain('adb disconnected it');
  expect(adb.requests.filter((request) => request.startsWith('host:connect:'))).toEqual([]);
});

it('a phone with another address is found by the number or the name that it announces, and is no stranger at its old one', async () => {
  const phones = [
    await bed.startPreparedPhone({ serial: 'SIM1' }),
    await bed.startPreparedPhone({ serial: 'TABLET', profile: 'tablet-noname' }),
  ] as const;
  const names = ['adb-SIM1-kL9x2c', 'adb-0123456789ABCDEF-q1W2e3'] as const;
  phones[1].android.properties.set('persist.adb.wifi.guid', names[1]);
  const rows = phones.map((phone, at) =>
    adb.plug({ serial: `192.168.1.2${at}:37000`, state: 'device', phone }),
  );
  const watch = bed.watch({ adbServer: adb.address, helper: 'resident', reconnectPauses });
  await waitForState(watch, 'SIM1', 'ready');
  await waitForState(watch, '192.168.1.21:37000', 'ready');
  adb.requests.length = 0;
  adb.services = [
    ['adb-STRANGER-aaaaaa', '_adb-tls-connect._tcp', '192.168.1.20:37000'],
    [`${names[1]} (2)`, '_adb-tls-connect._tcp', '192.168.1.31:41236'],
    ['adb-SIM1', '_adb._tcp', '192.168.1.30:5555'],
  ];
  for (const [at, address] of ['192.168.1.30:5555', '192.168.1.31:41236'].entries())
    adb.answers.set(`host:connect:${address}`, () => {
      adb.unplug(rows[at]?.serial ?? '');
      adb.plug({ serial: address, state: 'device', phone: phones[at] ?? phones[0] });
      return `connected to ${address}`;
    });
  for (const row of rows) row.state = 'offline';
  adb.tell();
  await waitForState(watch, 'SIM1', 'offline');
  await waitForState(watch, 'SIM1', 'ready');
  await expect.poll(() => adb.requests).toContain('host:connect:192.168.1.31:41236');
  expect(adb.requests).not.toContain('host:connect:192.168.1.20:37000');
});

it('an address that another phone announces is not connected, and the reason names that one', async () => {
  const phone = await bed.startPreparedPhone({ serial: 'SIM1' });
  const row = adb.plug({ serial: '192.168.1.20:37000', state: 'device', phone });
  const watch = bed.watch({ adbServer: adb.address, helper: 'resident', reconnectPauses });
  const ready = await waitForState(watch, 'SIM1', 'ready');
  adb.services = [['adb-STRANGER-aaaaaa', '_adb-tls-connect._tcp', '192.168.1.20:37000']];
  adb.requests.length = 0;
  row.state = 'offline';
  adb.tell();
  await expect
    .poll(() => ready.state.reason)
    .toContain('adb-STRANGER-aaaaaa has the address 192.168.1.20:37000');
  expect(adb.requests.filter((request) => request.startsWith('host:connect:'))).toEqual([]);
});

it('a host without phones tells that no adb server answers, until one does', async () => {
  const nobody = { host: '127.0.0.1', port: await freePort() };
  const lonely = bed.watch({ adbServer: nobody });
  await expect
    .poll(() => lonely.problem)
    .toBe(`No adb server answers at 127.0.0.1:${nobody.port}. Start it with "adb start-server".`);
  const watch = bed.watch({ adbServer: adb.address });
  const phone = await bed.startPreparedPhone({ serial: 'SIM1' });
  adb.plug({ serial: 'SIM1', state: 'device', usb: '1-4', phone });
  await waitForState(watch, 'SIM1', 'ready');
  expect(watch.problem).toBeUndefined();
});
