import type { PhoneFacts } from '@phalanx/protocol';

import type { PhoneShell } from '../../driver/shell/phone-shell.ts';
import { askPhone } from '../ask-phone.ts';

/** Settings of makers that spare the battery, by the table and the name that Android's `settings` has for them. */
const chargeSettings = [
  // Pixel: Settings.Secure of AOSP, which DreamManagerService reads; 1 is the limit of 80 %.
  { table: 'secure', name: 'charge_optimization_mode', on: '80 %' },
  // Pixel: charges to the full only shortly before it is unplugged, as it expects.
  { table: 'secure', name: 'adaptive_charging_enabled', on: 'adaptive' },
  // Samsung, from One UI 4 on: 85 %, or 80 % and others by release.
  { table: 'global', name: 'protect_battery', on: 'on' },
] as const;

/** In a line before the value. */
const settingMark = (name: string): string => `setting ${name}\n`;

// One trip and some short processes.
const question = [
  'cat /proc/uptime',
  'dumpsys battery',
  'dumpsys power | grep mWakefulness=',
  'dumpsys window policy | grep showing=',
  'df /data',
  'ip -f inet addr show wlan0 2>/dev/null',
  ...chargeSettings.map(({ table, name }) => `echo setting ${name}; settings get ${table} ${name}`),
].join('; ');

/** BatteryManager.BATTERY_HEALTH_…; 1 is unknown. */
const healthWords: Readonly<Record<string, PhoneFacts['battery_health']>> = {
  2: 'good',
  3: 'overheated',
  4: 'dead',
  5: 'overvoltage',
  6: 'failed',
  7: 'cold',
};

/** Asks a phone how it is. What it does not tell is null. */
export async function sampleFacts(shell: PhoneShell, now: () => number): Promise<PhoneFacts> {
  const { stdout } = await askPhone(shell, (signal) => shell.run(question, signal));
  const find = (form: RegExp): string | undefined => form.exec(stdout)?.[1];
  const number = (form: RegExp, unit = 1): number | null => {
    const text = find(form);
    return text === undefined ? null : Number(text) * unit;
  };
  const isAwake = find(/mWakefulness=(\w+)/) === 'Awake';
  const isLocked = find(/showing=(true|false)/) === 'true';
  return {
    sampled_at: now(),
    battery_percent: number(/^\s*level: (\d{1,3})\s*$/m),
    temperature_celsius: number(/^\s*temperature: (-?\d{1,4})\s*$/m, 0.1),
    charging: /(?:AC|USB|Wireless|Dock) powered: /.test(stdout)
      ? /(?:AC|USB|Wireless|Dock) powered: true/.test(stdout)
      : null,
    battery_health: healthWords[find(/^\s*health: (\d)\s*$/m) ?? ''] ?? null,
    battery_volts: number(/^\s*voltage: (\d{4,5})\s*$/m, 0.001),
    ...batteryOfMaker(number),
    charge_limit: chargeLimit(stdout),
    free_bytes: number(/^\S+\s+\d+\s+\d+\s+(\d+)\s+\d+%\s+\/data/m, 1024),
    storage_bytes: number(/^\S+\s+(\d+)\s+\d+\s+\d+\s+\d+%\s+\/data/m, 1024),
    screen: isAwake ? (isLocked ? 'locked' : 'on') : 'off',
    wifi_address: find(/inet (\d[\d.]+)\//) ?? null,
    uptime_seconds: number(/^(\d+(?:\.\d+)?) \d/m),
  };
}

/** Lines that Samsung adds to `dumpsys battery`, with or without brackets; -1 where it has not measured. A cycle is counted as 100. */
function batteryOfMaker(
  number: (form: RegExp, unit?: number) => number | null,
): Pick<PhoneFacts, 'battery_capacity_percent' | 'battery_cycles'> {
  const cycles = number(/mSavedBatteryUsage: \[?(\d+)\]?/, 0.01);
  return {
    battery_capacity_percent: number(/mSavedBatteryAsoc: \[?(\d{1,3})\]?/),
    battery_cycles: cycles === null ? null : Math.round(cycles),
  };
}

function chargeLimit(stdout: string): string | null {
  const values = chargeSettings.flatMap(({ name, on }) => {
    const value = stdout.split(settingMark(name))[1]?.split('\n')[0]?.trim();
    return value === undefined || !/^\d+$/.test(value) ? [] : [{ name, on, value }];
  });
  const active = values.find(({ value }) => value !== '0') ?? values[0];
  if (active === undefined) return null;
  return `${active.value === '0' ? 'off' : active.on} (${active.name} ${active.value})`;
}
