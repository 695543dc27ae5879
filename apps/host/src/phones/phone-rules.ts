import type { PhoneFacts } from '@phalanx/protocol';

/** When a phone is left alone, as its operator wants it; 0 is no limit. */
export interface PhoneRules {
  readonly minBatteryPercent: number;
  readonly maxTemperatureCelsius: number;
  /** With less free storage, in percent, the caches of its apps are emptied while nobody works with it. */
  readonly trimBelowPercent: number;
}

/** A little better than the limit, so that a phone does not come and go at it. */
const recovered = { batteryPercent: 3, celsius: 2 } as const;

/** Why the phone should rest; undefined when it may work. */
export function reasonToRest(
  { battery_percent: battery, temperature_celsius: celsius }: PhoneFacts,
  rules: PhoneRules,
  isResting: boolean,
): string | undefined {
  const least = rules.minBatteryPercent + (isResting ? recovered.batteryPercent : 0);
  const most = rules.maxTemperatureCelsius - (isResting ? recovered.celsius : 0);
  if (rules.minBatteryPercent > 0 && battery !== null && battery < least)
    return `Its battery is at ${battery} %, and PHALANX_MIN_BATTERY is ${rules.minBatteryPercent} %. Charge it.`;
  if (rules.maxTemperatureCelsius > 0 && celsius !== null && celsius > most)
    return `It is ${celsius.toFixed(1)} °C hot, and PHALANX_MAX_TEMPERATURE is ${rules.maxTemperatureCelsius} °C. Let it cool.`;
  return undefined;
}
