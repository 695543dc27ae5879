import { Type, type Static } from 'typebox';

import { EpochMs } from '../ids.ts';

/** State of a phone as reported by its host. Only a `ready` phone takes calls. */
export const reportedDeviceStates = [
  'ready',
  'connecting',
  'booting',
  'locked',
  'resting',
  'unauthorized',
  'no_permissions',
  'offline',
  'unresponsive',
  'helper_failed',
  'recovery',
  'sideload',
  'bootloader',
] as const;
export const ReportedDeviceState = Type.Enum(reportedDeviceStates);
export type ReportedDeviceState = Static<typeof ReportedDeviceState>;

/** State of a device as reported by the service. `busy`: ready, and automations are running. */
export const DeviceState = Type.Enum(['busy', ...reportedDeviceStates], { title: 'DeviceState' });
export type DeviceState = Static<typeof DeviceState>;

const orNull = <Of extends Parameters<typeof Type.Union>[0][number]>(of: Of) => Type.Union([of, Type.Null()]);

export const phoneWarningCodes = [
  'storage_low',
  'battery_overheated',
  'battery_cold',
  'battery_dead',
  'battery_overvoltage',
  'battery_failed',
  'battery_worn',
] as const;

/** Problem that a person should fix although the phone still works. */
export const PhoneWarning = Type.Object(
  {
    code: Type.Enum(phoneWarningCodes),
    reason: Type.String({ maxLength: 500, description: 'Description of the problem, with what to do' }),
  },
  { title: 'PhoneWarning' },
);
export type PhoneWarning = Static<typeof PhoneWarning>;

/** Periodic health facts of a phone. */
export const PhoneFacts = Type.Object(
  {
    sampled_at: EpochMs,
    battery_present: Type.Optional(
      orNull(
        Type.Boolean({
          description:
            'Whether the device has a battery; if false, all other battery fields are null. Null: unknown',
        }),
      ),
    ),
    battery_percent: orNull(Type.Number()),
    temperature_celsius: orNull(
      Type.Number({ description: 'Temperature of the battery, in degrees Celsius; null: unknown' }),
    ),
    charging: orNull(Type.Boolean()),
    free_bytes: orNull(Type.Number({ description: 'Free storage for apps and files, in bytes' })),
    storage_bytes: Type.Optional(
      orNull(Type.Number({ description: 'Total storage for apps and files, in bytes' })),
    ),
    battery_health: Type.Optional(
      orNull(
        Type.Enum(['good', 'overheated', 'dead', 'overvoltage', 'failed', 'cold'], {
          description: 'Health of the battery as Android reports it; null: unknown',
        }),
      ),
    ),
    battery_volts: Type.Optional(orNull(Type.Number())),
    battery_capacity_percent: Type.Optional(
      orNull(
        Type.Number({
          description:
            'Remaining battery capacity, in percent of the original capacity; null if the device does not report it',
        }),
      ),
    ),
    battery_cycles: Type.Optional(
      orNull(Type.Number({ description: 'Number of charge cycles; null if the device does not report it' })),
    ),
    charge_limit: Type.Optional(
      orNull(
        Type.String({
          maxLength: 100,
          description:
            'Setting of the manufacturer that limits charging to protect the battery; null: none is known',
        }),
      ),
    ),
    screen: orNull(Type.Enum(['on', 'locked', 'off'], { description: 'State of the screen; null: unknown' })),
    wifi_address: orNull(Type.String({ maxLength: 100 })),
    uptime_seconds: orNull(Type.Number()),
  },
  { title: 'PhoneFacts' },
);
export type PhoneFacts = Static<typeof PhoneFacts>;

/** Change of a phone's state, or a repair step of its host. */
export const PhoneEvent = Type.Object(
  {
    at: EpochMs,
    kind: Type.Enum(['state', 'repair']),
    state: DeviceState,
    /** Repair step; null for a change of state. */
    step: orNull(Type.Enum(['helper', 'reconnect', 'reboot', 'trim_caches'])),
    reason: Type.String({ maxLength: 2000 }),
  },
  { title: 'PhoneEvent' },
);
export type PhoneEvent = Static<typeof PhoneEvent>;

/** Facts and events that a host keeps about the health of a phone. */
export const PhoneHealth = Type.Object(
  {
    facts: orNull(PhoneFacts),
    last_repair: orNull(PhoneEvent),
    events: Type.Array(PhoneEvent, { description: 'Oldest first; the last 200' }),
  },
  { title: 'PhoneHealth' },
);
export type PhoneHealth = Static<typeof PhoneHealth>;
