import { Type, type Static } from 'typebox';

/** What a host says of a phone, in one word. Only a `ready` phone takes calls. */
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

/** What the service says of a device. `busy`: ready, and automations are running. */
export const DeviceState = Type.Enum(['busy', ...reportedDeviceStates], { title: 'DeviceState' });
export type DeviceState = Static<typeof DeviceState>;
