import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Phone } from '../phone.ts';
import {
  createPhoneTestBed,
  type PhoneTestBed,
  waitForPhone,
  waitForState,
} from '../testing/phone-test-bed.ts';

let bed: PhoneTestBed;
beforeEach(async () => {
  bed = await createPhoneTestBed();
});
afterEach(async () => {
  await bed.close();
});

const quick = { timings: { heartbeatMs: 50, healthMs: 50 } };

describe('the health of a phone', () => {
  it('is read from it, and tells what it went through', async () => {
    const phone = await bed.startPreparedPhone({ serial: 'SIM1' });
    phone.android.battery.level = 63;
    const ready = await waitForState(bed.watch({ addresses: [phone], ...quick }), 'SIM1', 'ready');
    await expect
      .poll(() => ready.facts)
      .toMatchObject({
        battery_percent: 63,
        temperature_celsius: 27.1,
        charging: true,
        screen: 'on',
        wifi_address: '192.168.7.23',
      });
    expect(ready.facts?.free_bytes).toBeGreaterThan(1_000_000);
    expect(ready.facts?.uptime_seconds).toBeGreaterThan(3000);
    expect(ready.history.list().map(({ state }) => state)).toEqual(['connecting', 'ready']);
  });

  it('has its history still when the host has begun anew, and does without one that it can not read', async () => {
    const phone = await bed.startPreparedPhone({ serial: 'SIM1' });
    const statesOf = ({ history }: Phone): string[] => history.list().map(({ state }) => state);
    const first = bed.watch({ addresses: [phone], ...quick });
    const before = await waitForState(first, 'SIM1', 'ready');
    await first.close();
    const told = statesOf(before);
    const second = bed.watch({ addresses: [phone], ...quick });
    const after = await waitForState(second, 'SIM1', 'ready');
    expect(statesOf(after)).toEqual([...told, 'connecting', 'ready']);
    expect(after.history.list().slice(0, told.length)).toEqual(before.history.list());
    await second.close();
    await bed.store.thread.run({ text: "UPDATE phone_history SET value = '[{'" });
    const third = await waitForState(bed.watch({ addresses: [phone], ...quick }), 'SIM1', 'ready');
    expect(statesOf(third)).toEqual(['connecting', 'ready']);
  });

  it('keeps it from work while its battery is low, until it is better than the limit', async () => {
    const phone = await bed.startPreparedPhone({ serial: 'SIM1' });
    const rules = { minBatteryPercent: 15, maxTemperatureCelsius: 45, trimBelowPercent: 0 };
    const watch = bed.watch({ addresses: [phone], ...quick, rules });
    const ready = await waitForState(watch, 'SIM1', 'ready');
    const letGo = ready.screen.hold();
    phone.android.battery.level = 9;
    await expect.poll(() => ready.facts?.battery_percent).toBe(9);
    expect(ready.state.state).toBe('ready');
    letGo();
    await waitForState(watch, 'SIM1', 'resting');
    expect(ready.state.reason).toContain('9 %');
    expect(() => ready.driver()).toThrow('resting');
    phone.android.battery.level = 16;
    await expect.poll(() => ready.facts?.battery_percent).toBe(16);
    expect(ready.state.state).toBe('resting');
    phone.android.battery.level = 20;
    await waitForState(watch, 'SIM1', 'ready');
    phone.android.battery.temperature = 47;
    await waitForState(watch, 'SIM1', 'resting');
    expect(ready.state.reason).toContain('47.0 °C');
  });

  it('keeps a device without a battery at work, and tells that it has none', async () => {
    const phone = await bed.startPreparedPhone({ serial: 'SIM1' });
    phone.android.battery.isPresent = false;
    const rules = { minBatteryPercent: 15, maxTemperatureCelsius: 45, trimBelowPercent: 0 };
    const ready = await waitForState(bed.watch({ addresses: [phone], ...quick, rules }), 'SIM1', 'ready');
    await expect
      .poll(() => ready.facts)
      .toMatchObject({
        battery_present: false,
        battery_percent: null,
        temperature_celsius: null,
        charging: null,
        battery_health: null,
        battery_volts: null,
        screen: 'on',
      });
    const { sampled_at: at = 0 } = ready.facts ?? {};
    phone.faults.missingServices = ['battery'];
    await expect.poll(() => ready.facts?.battery_present).toBeNull();
    expect(ready.facts?.sampled_at).toBeGreaterThan(at);
    expect([ready.facts?.battery_percent, ready.state.state]).toEqual([null, 'ready']);
  });

  it.each(['power', 'window'])(
    'has no screen that nobody told while its service "%s" is gone',
    async (service) => {
      const phone = await bed.startPreparedPhone({ serial: 'SIM1' });
      const ready = await waitForState(bed.watch({ addresses: [phone], ...quick }), 'SIM1', 'ready');
      await expect.poll(() => ready.facts?.screen).toBe('on');
      phone.faults.missingServices = [service];
      await expect.poll(() => ready.facts?.screen).toBeNull();
      expect(ready.state.state).toBe('ready');
    },
  );

  it('warns of full storage and of a battery that is not well, and knows the limits of makers', async () => {
    const phone = await bed.startPreparedPhone({ serial: 'SIM1' });
    const { android } = phone;
    const watch = bed.watch({ addresses: [phone], ...quick });
    const ready = await waitForState(watch, 'SIM1', 'ready');
    const codes = (): string[] => ready.warnings.map(({ code }) => code);
    await expect.poll(() => ready.facts).toMatchObject({ battery_health: 'good', charge_limit: null });
    expect(codes()).toEqual([]);
    let told = 0;
    watch.onChange(() => (told += 1));
    android.files.cacheBytes = 75e9;
    await expect.poll(codes).toEqual(['storage_low']);
    expect(told).toBe(1);
    android.battery.health = 3;
    android.battery.extra = '  mSavedBatteryAsoc: [71]\n  mSavedBatteryUsage: [80739]\n';
    await expect.poll(codes).toEqual(['storage_low', 'battery_overheated', 'battery_worn']);
    expect(ready.facts).toMatchObject({ battery_capacity_percent: 71, battery_cycles: 807 });
    expect(ready.warnings[2]?.reason).toContain('71 %');
    android.battery.health = 2;
    android.battery.extra = '  mSavedBatteryAsoc: -1\n';
    android.files.cacheBytes = 0;
    await expect.poll(codes).toEqual([]);
    const settings: readonly [table: string, name: string, value: string, told: string][] = [
      ['global', 'protect_battery', '0', 'off (protect_battery 0)'],
      ['global', 'protect_battery', '1', 'on (protect_battery 1)'],
      ['secure', 'adaptive_charging_enabled', '1', 'adaptive (adaptive_charging_enabled 1)'],
      ['secure', 'charge_optimization_mode', '1', '80 % (charge_optimization_mode 1)'],
    ];
    for (const [table, name, value, limit] of settings) {
      android.settings.findTable(table)?.set(name, value);
      await expect.poll(() => ready.facts?.charge_limit).toBe(limit);
    }
    expect(ready.state.state).toBe('ready');
  });

  it('tells how full its battery is in steps, and not each percent', async () => {
    const phone = await bed.startPreparedPhone({ serial: 'SIM1' });
    phone.android.battery.level = 83;
    const watch = bed.watch({ addresses: [phone], ...quick });
    const ready = await waitForState(watch, 'SIM1', 'ready');
    await expect.poll(() => ready.batteryPercent).toBe(85);
    let told = 0;
    watch.onChange(() => (told += 1));
    for (const level of [82, 81]) {
      phone.android.battery.level = level;
      await expect.poll(() => ready.facts?.battery_percent).toBe(level);
    }
    expect([ready.batteryPercent, told]).toEqual([85, 0]);
    phone.android.battery.level = 79;
    await expect.poll(() => ready.batteryPercent).toBe(80);
    expect(told).toBe(1);
    phone.android.battery.isPresent = false;
    await expect.poll(() => ready.batteryPercent).toBeUndefined();
  });

  it('has the caches of apps emptied when the operator wants it, but not while somebody works with the phone', async () => {
    const phone = await bed.startPreparedPhone({ serial: 'SIM1' });
    phone.android.files.cacheBytes = 75e9;
    const rules = { minBatteryPercent: 0, maxTemperatureCelsius: 0, trimBelowPercent: 20 };
    const watch = bed.watch({ addresses: [phone], timings: { heartbeatMs: 50, healthMs: 300 }, rules });
    const ready = await waitForState(watch, 'SIM1', 'ready');
    const letGo = ready.screen.hold();
    await expect.poll(() => ready.warnings).toHaveLength(1);
    expect(ready.history.lastRepair).toBeNull();
    letGo();
    await waitForState(watch, 'SIM1', 'resting');
    expect(ready.state.reason).toContain('caches');
    await waitForState(watch, 'SIM1', 'ready');
    expect(ready.history.lastRepair).toMatchObject({
      step: 'trim_caches',
      reason: 'The caches of apps were emptied. 9.0 GB were free before, 25.6 GB after.',
    });
    expect(ready.warnings).toEqual([]);
    const before = ready.history.list();
    phone.android.files.cacheBytes = 75e9;
    await expect.poll(() => ready.warnings).toHaveLength(1);
    // Caches that were trimmed recently are left alone.
    const sampledAt = ready.facts?.sampled_at ?? 0;
    await expect.poll(() => ready.facts?.sampled_at).toBeGreaterThan(sampledAt);
    expect(ready.history.list()).toEqual(before);
  });

  it.each([
    ['Failure [not allowed]', 0, 'Failure [not allowed]'],
    ['', 4, 'exit code 4'],
  ])(
    'tells that caches were not emptied when the phone says "%s" with exit code %i',
    async (said, code, told) => {
      const programs = new Map([
        [
          'pm',
          async ({ args, stdout }: { args: readonly string[]; stdout: { write(text: string): unknown } }) => {
            await stdout.write(
              args[0] === 'trim-caches' ? said : 'package:/system/framework/framework-res.apk\n',
            );
            return args[0] === 'trim-caches' ? code : 0;
          },
        ],
      ]);
      const phone = await bed.startPreparedPhone({ serial: 'SIM1', programs, uiAutomator2: false });
      phone.android.files.cacheBytes = 75e9;
      const rules = { minBatteryPercent: 0, maxTemperatureCelsius: 0, trimBelowPercent: 20 };
      const ready = await waitForState(bed.watch({ addresses: [phone], ...quick, rules }), 'SIM1', 'ready');
      await expect.poll(() => ready.history.lastRepair?.reason).toContain(`could not be emptied: ${told}. `);
    },
  );

  it('is repaired in steps: the helper, the connection, and a restart where that is allowed', async () => {
    const phone = await bed.startPreparedPhone({ serial: 'SIM1', bootMs: 50 });
    const watch = bed.watch({ addresses: [phone], ...quick, mayReboot: true });
    const ready = await waitForState(watch, 'SIM1', 'ready');
    const firstBoot = phone.android.boot.id;
    for (const step of ['helper', 'helper', 'reconnect', 'reboot']) {
      const repairs = ready.history.list().filter(({ kind }) => kind === 'repair').length;
      await waitForState(watch, 'SIM1', 'ready');
      phone.faults.killUiAutomation();
      await expect
        .poll(() => ready.history.list().filter(({ kind }) => kind === 'repair').length)
        .toBe(repairs + 1);
      expect(ready.history.lastRepair).toMatchObject({
        step,
        reason: expect.stringContaining('UiAutomation'),
      });
    }
    await waitForPhone(watch, ({ state }) => state.state === 'ready' && phone.android.boot.id !== firstBoot);
  });
});
