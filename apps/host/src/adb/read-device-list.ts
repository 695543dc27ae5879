import type { AdbServerClient } from '@yume-chan/adb';
import { withTimeLimit } from '../time/time-limit.ts';
import { type ListedDevice, parseDeviceList } from './device-list.ts';

const answerTimeoutMs = 5000;

/** Asks an adb server for its list, once. */
export async function readDeviceList(client: AdbServerClient, signal: AbortSignal): Promise<ListedDevice[]> {
  const onTimeout = (): Error => new Error(`The adb server did not answer in ${answerTimeoutMs} ms`);
  return await withTimeLimit({ timeoutMs: answerTimeoutMs, signals: [signal], onTimeout }, async (limit) => {
    const stream = await client.createConnection('host:devices-l', { signal: limit });
    try {
      return parseDeviceList(await stream.readString());
    } finally {
      await stream.dispose();
    }
  });
}
