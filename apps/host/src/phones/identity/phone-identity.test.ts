import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Program, SimulatedPhone } from '@phalanx/simulated-phone';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadPins, type PhonePins } from '../phone-pins.ts';
import {
  createPhoneTestBed,
  type PhoneTestBed,
  waitForPhone,
  waitForState,
} from '../testing/phone-test-bed.ts';
import type { ScriptedAdbServer } from '../testing/scripted-adb-server.ts';
import type { PhoneWatch } from '../watch-phones.ts';
import { isOwnNumber } from '../../adb/own-number.ts';

let bed: PhoneTestBed;
let adb: ScriptedAdbServer;
beforeEach(async () => {
  bed = await createPhoneTestBed();
  adb = await bed.startScriptedAdb();
});
afterEach(async () => {
  await bed.close();
});

const watch = (pins?: PhonePins): PhoneWatch =>
  bed.watch({
    adbServer: adb.address,
    helper: 'resident',
    pins,
    reconnectPauses: { firstMs: 100, maxMs: 400 },
  });

const plug = (phone: SimulatedPhone, usb: string): void =>
  void adb.plug({ serial: phone.serial || '(no serial number)', state: 'device', usb, phone });

const tablet = (serial: string, more: object = {}): Promise<SimulatedPhone> =>
  bed.startPreparedPhone({ serial, profile: 'tablet-noname', ...more });

/** Returns the phones that the driver of this name really touches. */
async function touched(
  phones: PhoneWatch,
  name: string,
  among: readonly SimulatedPhone[],
): Promise<number[]> {
  const before = among.map(({ android }) => android.inputs.list().length);
  await waitForState(phones, name, 'ready');
  await phones.find(name)?.driver().call('input.tap', { x: 5, y: 5 });
  return among.flatMap(({ android }, at) => (android.inputs.list().length > (before[at] ?? 0) ? [at] : []));
}

describe('phones that share a serial number', () => {
  const twin = (more: object = {}): Promise<SimulatedPhone> =>
    bed.startPreparedPhone({
      serial: 'REDROID01',
      bootId: 'cccccccc-0000-4000-8000-000000000000',
      androidId: 'aaaaaaaaaaaaaaaa',
      ...more,
    });

  it('are two, also when they are copies on one kernel, and keep their names when they come in another order', async () => {
    const phones = [await twin(), await twin()];
    const addresses = phones.map(({ host, port }) => ({ host, port }));
    const early = bed.watch({ addresses: addresses.slice(0, 1), helper: 'resident' });
    await waitForState(early, 'REDROID01', 'ready');
    await early.close();
    const both = bed.watch({ addresses, helper: 'resident' });
    const other = `REDROID01@127.0.0.1:${phones[1]?.port}`;
    expect(await touched(both, 'REDROID01', phones)).toEqual([0]);
    expect(await touched(both, other, phones)).toEqual([1]);
    expect(both.phones().map(({ hasOwnNumber }) => hasOwnNumber)).toEqual([true, false]);
    for (const { state } of both.phones())
      for (const { port } of phones) expect(state.reason).toContain(`127.0.0.1:${port}`);
    await both.close();
    const reversed = bed.watch({ addresses: addresses.toReversed(), helper: 'resident' });
    expect(await touched(reversed, other, phones)).toEqual([1]);
    expect(await touched(reversed, 'REDROID01', phones)).toEqual([0]);
    expect(reversed.phones()).toHaveLength(2);
  });

  it('are told apart by what Android drew for each when they change their places', async () => {
    const phones = [await twin(), await twin({ androidId: 'bbbbbbbbbbbbbbbb' })] as const;
    plug(phones[0], '1-1');
    const first = watch();
    await waitForState(first, 'REDROID01', 'ready');
    plug(phones[1], '1-2');
    await waitForState(first, 'REDROID01@usb:1-2', 'ready');
    await first.close();
    adb.unplug('REDROID01');
    plug(phones[1], '1-1');
    plug(phones[0], '1-2');
    const second = watch();
    expect(await touched(second, 'REDROID01@usb:1-2', phones)).toEqual([1]);
    expect(await touched(second, 'REDROID01', phones)).toEqual([0]);
  });

  it('are not used where nothing tells whether they are two, and people are told of both places', async () => {
    const setprop: Program = async ({ stderr }) => {
      await stderr.write('setprop: failed to set property\n');
      return 1;
    };
    const phones = [await twin(), await twin({ programs: new Map([['setprop', setprop]]) })] as const;
    plug(phones[0], '1-1');
    const phonesSeen = watch();
    await waitForState(phonesSeen, 'REDROID01', 'ready');
    plug(phones[1], '1-2');
    const doubted = await waitForPhone(phonesSeen, ({ isDoubted }) => isDoubted);
    expect(doubted).toMatchObject({ serial: 'REDROID01@usb:1-2', isIdentified: false, hasOwnNumber: false });
    expect(doubted.state).toMatchObject({
      state: 'unresponsive',
      reason: expect.stringMatching(/usb:1-1 and at usb:1-2 .* can't be told/),
    });
    expect(phonesSeen.find('REDROID01')?.state.state).toBe('ready');
    adb.unplug('REDROID01');
    plug(phones[1], '1-2');
    await waitForState(phonesSeen, 'REDROID01', 'ready');
  });
});

describe('one phone', () => {
  it('stays one over two ways, and after a factory reset', async () => {
    const phone = await bed.startPreparedPhone({ serial: 'R58N00001' });
    plug(phone, '1-1');
    adb.plug({ serial: '192.168.1.20:37001', state: 'device', phone });
    const phones = watch();
    const ready = await waitForState(phones, 'R58N00001', 'ready');
    await expect.poll(() => phones.phones()).toEqual([ready]);
    expect(ready).toMatchObject({ hasOwnNumber: true, state: { reason: 'The phone is ready.' } });
    adb.unplug('R58N00001');
    adb.unplug('192.168.1.20:37001');
    await waitForState(phones, 'R58N00001', 'offline');
    phone.android.settings.findTable('secure')?.set('android_id', 'dddddddddddddddd');
    plug(phone, '1-3');
    await waitForState(phones, 'R58N00001', 'ready');
    expect(phones.phones()).toEqual([ready]);
  });
});

describe('phones without a number of their own', () => {
  it('at one port, one after the other, are two: nothing goes from one to the other', async () => {
    const tablets = [await tablet('TABLET-A'), await tablet('TABLET-B')] as const;
    plug(tablets[0], '1-1');
    const first = watch();
    const before = await waitForState(first, 'usb:1-1', 'ready');
    expect(before.state.reason).toBe(
      'The phone is ready. It has no serial number of its own: its host knows it by its place, usb:1-1.',
    );
    expect(before.hasOwnNumber).toBe(false);
    const history = before.history.list().length;
    await before.driver().call('phone.settings', { brightness: 10 });
    adb.unplug(tablets[0].serial);
    await waitForState(first, 'usb:1-1', 'offline');
    await first.close();
    plug(tablets[1], '1-1');
    const second = watch();
    const after = await waitForState(second, 'usb:1-1#2', 'ready');
    expect(after.state.reason).toContain('other phones were at usb:1-1');
    expect(after.history.list()[0]?.state).not.toBe('ready');
    await after.driver().putSettingsBack(() => true);
    expect(tablets[1].android.settings.findTable('system')?.get('screen_brightness')).toBe('128');
    expect(second.find('usb:1-1')?.state.state).not.toBe('ready');
    adb.unplug(tablets[1].serial);
    plug(tablets[0], '1-1');
    const again = await waitForState(second, 'usb:1-1', 'ready');
    expect(again.history.list().length).toBeGreaterThan(history);
    await again.driver().putSettingsBack(() => true);
    expect(tablets[0].android.settings.findTable('system')?.get('screen_brightness')).toBe('128');
    expect(await touched(second, 'usb:1-1', tablets)).toEqual([0]);
  });

  it('are not taken for each other while Android starts: a PIN is typed to its own phone alone', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'phalanx-pins-'));
    const file = join(folder, 'pins');
    await writeFile(file, 'usb:1-1 4712\n');
    const pins = await loadPins(file);
    await rm(folder, { recursive: true });
    const tablets = [
      await tablet('TABLET-A', { pin: '4712' }),
      await tablet('TABLET-B', { pin: '4712' }),
    ] as const;
    plug(tablets[0], '1-1');
    const phones = watch(pins);
    await waitForState(phones, 'usb:1-1', 'ready');
    adb.unplug(tablets[0].serial);
    await waitForState(phones, 'usb:1-1', 'offline');
    const boot = tablets[1].android.restart();
    boot.phase = 'starting';
    plug(tablets[1], '1-1');
    await waitForState(phones, 'usb:1-1', 'booting');
    boot.phase = 'up';
    const locked = await waitForPhone(phones, ({ state }) => state.state === 'locked');
    expect(locked.serial).toBe('usb:1-1#2');
    expect(tablets[1].android.isLocked).toBe(true);
    expect(phones.find('usb:1-1')?.state.state).not.toBe('locked');
  });

  it('may have no number at all, and one that is written as a place counts as none', async () => {
    plug(await bed.startPreparedPhone({ serial: '' }), '1-1');
    plug(await bed.startPreparedPhone({ serial: 'usb:1-1' }), '1-2');
    const phones = watch();
    await waitForState(phones, 'usb:1-1', 'ready');
    await waitForState(phones, 'usb:1-2', 'ready');
    expect(phones.phones().map(({ hasOwnNumber }) => hasOwnNumber)).toEqual([false, false]);
  });
});

it('placeholders of makers and names of places are no numbers of phones', () => {
  const none = [
    '',
    'unknown',
    '0',
    '00000000',
    'FFFFFFFF',
    '0123456789ABCDEF',
    '1234567890',
    '12345678',
    'aaaa',
  ];
  const places = [
    'usb:1-1',
    '192.168.1.20:5555',
    'adb-X-y._adb-tls-connect._tcp',
    '????',
    'EMULATOR36X4X10X0',
    'a b',
  ];
  expect([...none, ...places].filter(isOwnNumber)).toEqual([]);
  const own = ['R58M123ABC', '34091FDH2000AB', 'SIM1', 'ce0717171f4a', '12:34:56:78:9a:bc', '0123456788'];
  expect(own.filter(isOwnNumber)).toEqual(own);
});
