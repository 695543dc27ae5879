import type { PhoneFacts, PhoneWarning } from '@phalanx/protocol';

import { askTogether } from '../../driver/shell/ask-together.ts';
import { isKeyguardShown, keyguardQuestion } from '../../driver/shell/keyguard.ts';
import type { PhoneShell } from '../../driver/shell/phone-shell.ts';
import { wakefulnessIn, wakefulnessQuestion } from '../../driver/shell/wakefulness.ts';
import { askPhone } from '../ask-phone.ts';
import { batteryFacts } from './battery-facts.ts';

/** Battery-saving charge settings of manufacturers, by table and name in Android's `settings`. */
const chargeSettings = [
  // Pixel: Settings.Secure of AOSP, which DreamManagerService reads; 1 is the limit of 80 %.
  { table: 'secure', name: 'charge_optimization_mode', on: '80 %' },
  // Pixel: charges to 100 % only shortly before the expected unplugging.
  { table: 'secure', name: 'adaptive_charging_enabled', on: 'adaptive' },
  // Samsung, from One UI 4 on: 85 %, or 80 % and others by release.
  { table: 'global', name: 'protect_battery', on: 'on' },
] as const;

// Batched into one round trip with few short processes.
const questions = [
  'cat /proc/uptime; df /data',
  'dumpsys battery',
  wakefulnessQuestion,
  keyguardQuestion,
  'ip -f inet addr show wlan0 2>/dev/null',
  ...chargeSettings.map(({ table, name }) => `settings get ${table} ${name}`),
];

/** Asks a phone for its health facts. Missing values are null. */
export async function sampleFacts(shell: PhoneShell, now: () => number): Promise<PhoneFacts> {
  const [stdout = '', powerSupply = '', power = '', policy = '', network = '', ...charging] = await askPhone(
    shell,
    (signal) => askTogether(shell, questions, signal),
  );
  const find = (form: RegExp): string | undefined => form.exec(stdout)?.[1];
  const number = (form: RegExp, unit = 1): number | null => {
    const text = find(form);
    return text === undefined ? null : Number(text) * unit;
  };
  const battery = batteryFacts(powerSupply);
  return {
    sampled_at: now(),
    ...battery,
    charge_limit: battery.battery_present === false ? null : chargeLimit(charging),
    free_bytes: number(/^\S+[ \t]+\d+[ \t]+\d+[ \t]+(\d+)[ \t]+\d+%[ \t]+\/data/m, 1024),
    storage_bytes: number(/^\S+[ \t]+(\d+)[ \t]+\d+[ \t]+\d+[ \t]+\d+%[ \t]+\/data/m, 1024),
    screen: screenOf(power, policy),
    wifi_address: /^[ \t]*inet (\d[\d.]{6,14})\//m.exec(network)?.[1] ?? null,
    uptime_seconds: number(/^(\d+(?:\.\d+)?) \d/m),
  };
}

function screenOf(power: string, policy: string): PhoneFacts['screen'] {
  const wakefulness = wakefulnessIn(power);
  if (wakefulness === undefined) return null;
  if (wakefulness !== 'Awake') return 'off';
  const isLocked = isKeyguardShown(policy);
  if (isLocked === undefined) return null;
  return isLocked ? 'locked' : 'on';
}

function chargeLimit(printed: readonly string[]): string | null {
  const values = chargeSettings.flatMap(({ name, on }, index) => {
    const value = printed[index]?.trim();
    return value === undefined || !/^\d+$/.test(value) ? [] : [{ name, on, value }];
  });
  const active = values.find(({ value }) => value !== '0') ?? values[0];
  if (active === undefined) return null;
  return `${active.value === '0' ? 'off' : active.on} (${active.name} ${active.value})`;
}

type Code = PhoneWarning['code'];

/**
 * Minimum values, in percent. Below the minimum of storage, installations, databases and pictures of apps begin to
 * fail.
 */
const minimums = { storagePercent: 10, capacityPercent: 80 } as const;
/** Hysteresis in percentage points, so that a warning does not flap at the limit. */
const recoveredPercent = 1;

/** Android's names for an unhealthy battery, and what to do about it. */
const batteryReasons: Readonly<
  Record<Exclude<NonNullable<PhoneFacts['battery_health']>, 'good'>, readonly [Code, string]>
> = {
  overheated: [
    'battery_overheated',
    'Android says that the battery is overheated. Let the phone cool, and look whether its back is bulging.',
  ],
  cold: [
    'battery_cold',
    'Android says that the battery is too cold to be charged. Put the phone in a warmer place.',
  ],
  dead: [
    'battery_dead',
    'Android says that the battery is dead. Look whether the back of the phone is bulging, and have the battery replaced.',
  ],
  overvoltage: [
    'battery_overvoltage',
    'Android says that the battery gets too much voltage. Unplug the phone, use another charger or hub, and look whether its back is bulging.',
  ],
  failed: [
    'battery_failed',
    'Android says that the battery has failed. Look whether the back of the phone is bulging, and have the battery replaced.',
  ],
};

/** Returns the free percentage of the phone's storage; undefined when the phone does not report it. */
export function freePercent({ free_bytes: free, storage_bytes: all }: PhoneFacts): number | undefined {
  return free === null || all === null || all === undefined || all === 0 ? undefined : (100 * free) / all;
}

/**
 * Returns warnings for a person to act on. Each change is reported, so the texts contain no figure that changes every
 * minute.
 */
export function warningsOf(facts: PhoneFacts, before: readonly PhoneWarning[]): PhoneWarning[] {
  const warnings: PhoneWarning[] = [];
  const storage = freePercent(facts);
  const wasLow = before.some(({ code }) => code === 'storage_low');
  if (storage !== undefined && storage < minimums.storagePercent + (wasLow ? recoveredPercent : 0))
    warnings.push({
      code: 'storage_low',
      reason: `Less than ${minimums.storagePercent} % of the storage is free. Delete files and apps; PHALANX_TRIM_CACHES has the host empty the caches of apps.`,
    });
  const { battery_health: health, battery_capacity_percent: capacity } = facts;
  if (health !== null && health !== undefined && health !== 'good') {
    const [code, reason] = batteryReasons[health];
    warnings.push({ code, reason });
  }
  if (typeof capacity === 'number' && capacity < minimums.capacityPercent)
    warnings.push({
      code: 'battery_worn',
      reason: `The battery has ${capacity} % of its capacity left, as the phone tells. Have it replaced, above all when the back of the phone is bulging.`,
    });
  return warnings;
}

/** Limits at which a phone rests, set by its operator; 0 means no limit. */
export interface PhoneRules {
  readonly minBatteryPercent: number;
  readonly maxTemperatureCelsius: number;
  /** Free storage, in percent, below which an idle phone's app caches are cleared. */
  readonly trimBelowPercent: number;
}

/** Hysteresis in percentage points and degrees, so that a phone does not flap at the limit. */
const recovered = { batteryPercent: 3, celsius: 2 } as const;

/** Returns the reason why the phone should rest; undefined when it may work. */
export function reasonToRest(
  { battery_percent: battery, temperature_celsius: celsius }: PhoneFacts,
  rules: PhoneRules,
  isResting: boolean,
): string | undefined {
  const lowest = rules.minBatteryPercent + (isResting ? recovered.batteryPercent : 0);
  const maxCelsius = rules.maxTemperatureCelsius - (isResting ? recovered.celsius : 0);
  if (rules.minBatteryPercent > 0 && battery !== null && battery < lowest)
    return `Its battery is at ${battery} %, and PHALANX_MIN_BATTERY is ${rules.minBatteryPercent} %. Charge it.`;
  if (rules.maxTemperatureCelsius > 0 && celsius !== null && celsius > maxCelsius)
    return `It is ${celsius.toFixed(1)} °C hot, and PHALANX_MAX_TEMPERATURE is ${rules.maxTemperatureCelsius} °C. Let it cool.`;
  return undefined;
}
