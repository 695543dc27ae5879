import { Type, type Static } from 'typebox';

import { DeviceState } from './device-states.ts';
import { EpochMs } from '../ids.ts';

const orNull = <Of extends Parameters<typeof Type.Union>[0][number]>(of: Of) => Type.Union([of, Type.Null()]);

/** How a phone is, from time to time. */
export const PhoneFacts = Type.Object(
  {
    sampled_at: EpochMs,
    battery_percent: orNull(Type.Number()),
    temperature_celsius: orNull(Type.Number({ description: "The battery's" })),
    charging: orNull(Type.Boolean()),
    free_bytes: orNull(Type.Number({ description: 'Room for apps and files' })),
    screen: Type.Enum(['on', 'locked', 'off']),
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
    /** `helper`, `reconnect` or `reboot`; null for a change of state. */
    step: orNull(Type.Enum(['helper', 'reconnect', 'reboot'])),
    reason: Type.String({ maxLength: 2000 }),
  },
  { title: 'PhoneEvent' },
);
export type PhoneEvent = Static<typeof PhoneEvent>;

/** What a host knows of the health of a phone. */
export const PhoneHealth = Type.Object(
  {
    facts: orNull(PhoneFacts),
    last_repair: orNull(PhoneEvent),
    events: Type.Array(PhoneEvent, { description: 'Oldest first; the last 200' }),
  },
  { title: 'PhoneHealth' },
);
export type PhoneHealth = Static<typeof PhoneHealth>;
