import type { PhoneFacts, PhoneWarning } from '@phalanx/protocol';

type Code = PhoneWarning['code'];

/** Below it Android itself begins to fail: installations, databases and pictures of apps. */
const least = { storagePercent: 10, capacityPercent: 80 } as const;
/** A little better than the limit, so that a warning does not come and go at it. */
const recoveredPercent = 1;

/** Android's own words for a battery that is not well, and what to do. */
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

/** The percentage of its storage that is free; undefined where the phone does not tell. */
export function freePercent({ free_bytes: free, storage_bytes: all }: PhoneFacts): number | undefined {
  return free === null || all === null || all === undefined || all === 0 ? undefined : (100 * free) / all;
}

/** What somebody should look after. The texts hold no figure that changes from one minute to the next: each change is told. */
export function warningsOf(facts: PhoneFacts, before: readonly PhoneWarning[]): PhoneWarning[] {
  const warnings: PhoneWarning[] = [];
  const storage = freePercent(facts);
  const wasLow = before.some(({ code }) => code === 'storage_low');
  if (storage !== undefined && storage < least.storagePercent + (wasLow ? recoveredPercent : 0))
    warnings.push({
      code: 'storage_low',
      reason: `Less than ${least.storagePercent} % of the storage is free. Delete files and apps; PHALANX_TRIM_CACHES has the host empty the caches of apps.`,
    });
  const { battery_health: health, battery_capacity_percent: capacity } = facts;
  if (health !== null && health !== undefined && health !== 'good') {
    const [code, reason] = batteryReasons[health];
    warnings.push({ code, reason });
  }
  if (typeof capacity === 'number' && capacity < least.capacityPercent)
    warnings.push({
      code: 'battery_worn',
      reason: `The battery has ${capacity} % of its capacity left, as the phone tells. Have it replaced, above all when the back of the phone is bulging.`,
    });
  return warnings;
}
