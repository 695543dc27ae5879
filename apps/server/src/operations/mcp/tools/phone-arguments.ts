import { deviceRoutes, ScreenId, Selector } from '@phalanx/protocol';
import { Type } from 'typebox';

import { type ApiCalls, ToolFailure } from '../tool.ts';

export const device = Type.String({
  maxLength: 100,
  description: 'ID or serial number',
  examples: ['SIM0001'],
});
/** Phone selector, described in as few words as a model needs. */
export const phoneSelector = Type.String({
  ...Selector,
  description:
    'Such as country=de,model~Pixel. Keys: labels, pool, id, serial, name, maker, model, android, sdk, host, state; = != ~ !~ >= <=; | between values',
});
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Returns the ID of the device with an ID or serial number. */
export async function deviceIdOf(api: ApiCalls, given: string): Promise<string> {
  if (uuid.test(given)) return given;
  const { devices } = await api.call(deviceRoutes.list, { query: { search: given } });
  // A serial number is chosen by the user who shares the phone, so only own and accepted phones count.
  const [found, ...others] = devices.filter(({ serial, accepted }) => serial === given && accepted);
  if (found !== undefined && others.length === 0) return found.device_id;
  throw new ToolFailure(
    found === undefined
      ? `No phone of yours, and none that you accepted, is ${given}: see list_devices, or give the device ID.`
      : `Several phones have the serial number ${given}: give the device ID.`,
  );
}

export const lease = Type.String({
  maxLength: 100,
  description: 'From take_device',
  examples: ['01a1ff14-6b1c-7c33-9d1a-0f2a6a3c5e77'],
});
export const screenId = Type.String({ ...ScreenId, description: 'Screen ID' });
