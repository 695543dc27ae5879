import { Type, type Static } from 'typebox';

import { EpochMs } from '../ids.ts';

/** State of a phone, as its host reports it. Only a `ready` phone takes calls. */
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

/** State of a device, as the service reports it. `busy`: ready, and automations are running. */
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

/** A problem that somebody should look after, though the phone still works. */
export const PhoneWarning = Type.Object(
  {
    code: Type.Enum(phoneWarningCodes),
    reason: Type.String({ maxLength: 500, description: 'What is the matter and what to do' }),
  },
  { title: 'PhoneWarning' },
);
export type PhoneWarning = Static<typeof PhoneWarning>;

/** How a phone is, from time to time. */
export const PhoneFacts = Type.Object(
  {
    sampled_at: EpochMs,
    battery_present: Type.Optional(
      orNull(
        Type.Boolean({
          description: 'False: the device has no battery, and all else of it is null. Null: it does not tell',
        }),
      ),
    ),
    battery_percent: orNull(Type.Number()),
    temperature_celsius: orNull(Type.Number({ description: "The battery's" })),
    charging: orNull(Type.Boolean()),
    free_bytes: orNull(Type.Number({ description: 'Room for apps and files' })),
    storage_bytes: Type.Optional(orNull(Type.Number({ description: 'Of which `free_bytes` are free' }))),
    battery_health: Type.Optional(
      orNull(
        Type.Enum(['good', 'overheated', 'dead', 'overvoltage', 'failed', 'cold'], {
          description: "Android's word for it",
        }),
      ),
    ),
    battery_volts: Type.Optional(orNull(Type.Number())),
    battery_capacity_percent: Type.Optional(
      orNull(
        Type.Number({
          description: 'What is left of the capacity that it had when new, where its maker tells',
        }),
      ),
    ),
    battery_cycles: Type.Optional(orNull(Type.Number({ description: 'Where its maker tells' }))),
    charge_limit: Type.Optional(
      orNull(
        Type.String({
          maxLength: 100,
          description: "Its maker's setting that spares the battery, as it is now; null where none is known",
        }),
      ),
    ),
    screen: orNull(Type.Enum(['on', 'locked', 'off'], { description: 'Null: the phone does not tell' })),
    wifi_address: orNull(Type.String({ maxLength: 100 })),
    uptime_seconds: orNull(Type.Number()),
  },
  { title: 'PhoneFacts' },
);
export type PhoneFacts = Static<typeof PhoneFacts>;

/** A change of a phone's state, or something that its host did to mend it. */
export const PhoneEvent = Type.Object(
  {
    at: EpochMs,
    kind: Type.Enum(['state', 'repair']),
    state: DeviceState,
    /** Null for a change of state. */
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
