import type { PhoneFacts } from '@phalanx/protocol';

type BatteryFacts = Pick<
  PhoneFacts,
  | 'battery_present'
  | 'battery_percent'
  | 'temperature_celsius'
  | 'charging'
  | 'battery_health'
  | 'battery_volts'
  | 'battery_capacity_percent'
  | 'battery_cycles'
>;

/** Values of BatteryManager.BATTERY_HEALTH_…; 1 means unknown. */
const healthWords: Readonly<Record<string, PhoneFacts['battery_health']>> = {
  2: 'good',
  3: 'overheated',
  4: 'dead',
  5: 'overvoltage',
  6: 'failed',
  7: 'cold',
};

const nothing: Omit<BatteryFacts, 'battery_present'> = {
  battery_percent: null,
  temperature_celsius: null,
  charging: null,
  battery_health: null,
  battery_volts: null,
  battery_capacity_percent: null,
  battery_cycles: null,
};

const maxPercent = 100;

/**
 * Parses the output of `dumpsys battery`. Missing values are null, and so are all values of a device without a battery.
 * Devices without a gauge report zeros that were never measured, so a zero without a voltage counts as missing.
 */
export function batteryFacts(printed: string): BatteryFacts {
  const find = (form: RegExp): string | undefined => form.exec(printed)?.[1];
  const present = find(/^[ \t]*present: (true|false)[ \t\r]*$/m);
  if (present === 'false') return { battery_present: false, ...nothing };
  const number = (form: RegExp): number | null => {
    const text = find(form);
    return text === undefined ? null : Number(text);
  };
  const isMeasured = number(/^[ \t]*voltage: (-?\d{1,10})[ \t\r]*$/m) !== 0;
  const measured = (form: RegExp): number | null => {
    const value = number(form);
    return value === 0 && !isMeasured ? null : value;
  };
  const level = measured(/^[ \t]*level: (\d{1,3})[ \t\r]*$/m);
  const tenths = measured(/^[ \t]*temperature: (-?\d{1,4})[ \t\r]*$/m);
  const millivolts = number(/^[ \t]*voltage: (\d{4,5})[ \t\r]*$/m);
  const powered = [...printed.matchAll(/^[ \t]*(?:AC|USB|Wireless|Dock) powered: (true|false)/gm)];
  return {
    battery_present: present === undefined ? null : true,
    battery_percent: level !== null && level > maxPercent ? null : level,
    temperature_celsius: tenths === null ? null : tenths * 0.1,
    charging: powered.length === 0 ? null : powered.some(([, isOn]) => isOn === 'true'),
    battery_health: healthWords[find(/^[ \t]*health: (\d)[ \t\r]*$/m) ?? ''] ?? null,
    battery_volts: millivolts === null ? null : millivolts * 0.001,
    ...ofMaker(number),
  };
}

/** Parses the lines that Samsung adds, with or without brackets. -1 means not measured; a cycle counts as 100. */
function ofMaker(
  number: (form: RegExp) => number | null,
): Pick<PhoneFacts, 'battery_capacity_percent' | 'battery_cycles'> {
  const cycles = number(/mSavedBatteryUsage: \[?(\d+)\]?/);
  return {
    battery_capacity_percent: number(/mSavedBatteryAsoc: \[?(\d{1,3})\]?/),
    battery_cycles: cycles === null ? null : Math.round(cycles * 0.01),
  };
}
