import type { AdbServerClient } from '@yume-chan/adb';

import { createBackoff } from '../time/backoff.ts';
import { pause, withTimeLimit } from '../time/time-limit.ts';
import { hourMs } from '../time/durations.ts';
import type { ListedDevice } from './device-list.ts';
import type { LinkedPhone } from './link.ts';
import { connectTo, findOtherPort, findWhereabouts, instanceName, isNetworkName } from './wireless.ts';

export interface ReconnectPauses {
  readonly firstMs: number;
  readonly lastMs: number;
}

// adb lists each phone that comes as offline for some seconds. An hour at last, so that a phone which is away for good costs little.
const defaultPauses: ReconnectPauses = { firstMs: 5000, lastMs: hourMs };
/** adb itself gives an address ten seconds, and there may be two. */
const answerTimeoutMs = 25_000;

export interface Reconnection {
  readonly client: AdbServerClient;
  /** The row as it is listed now; one on the network may have left the list. */
  readonly device: () => ListedDevice;
  /** The phone that it led to; undefined until one has answered. */
  readonly phone: () => LinkedPhone | undefined;
  readonly pauses?: ReconnectPauses | undefined;
  /** Called before each try: it may take the row out of the list. */
  readonly onBegin: () => void;
  /** Called after each try: what was done, and when it is done again. */
  readonly onTry: (told: { readonly repair: string; readonly next: string }) => void;
  readonly signal: AbortSignal;
}

/** Has an adb server reconnect a phone, after growing pauses, until the signal aborts. Returns early with the address where it found a phone that has moved. */
export async function keepReconnecting(reconnection: Reconnection): Promise<string | undefined> {
  const { device, pauses = defaultPauses, onBegin, onTry, signal } = reconnection;
  const backoff = createBackoff(pauses);
  await pause(backoff.nextMs(), signal);
  for (let attempt = 1; !signal.aborted; attempt += 1) {
    onBegin();
    const at = new Date().toISOString().slice(11, 19);
    const { address, objection } = await reconnect(reconnection);
    if (signal.aborted) return undefined;
    if (objection === undefined && address !== device().serial) return address;
    const nextMs = backoff.nextMs();
    onTry({
      repair: `adb was told to reconnect it at ${at} UTC (try ${attempt})${objection === undefined ? '' : `: ${objection}`}`,
      next: `next try in ${formatPause(nextMs)}`,
    });
    await pause(nextMs, signal);
  }
  return undefined;
}

/** A phone on the network has to be disconnected and connected: adb 29 forgets one that it is told to reconnect. */
async function reconnect({
  client,
  device,
  phone,
  signal,
}: Reconnection): Promise<{ address: string; objection?: string }> {
  const { serial, transportId } = device();
  const onTimeout = (): Error => new Error(`adb did not answer in ${answerTimeoutMs / 1000} s`);
  let address = serial;
  try {
    await withTimeLimit({ timeoutMs: answerTimeoutMs, signals: [signal], onTimeout }, async () => {
      if (!isNetworkName(serial)) return await client.reconnectDevice({ transportId });
      const there = await findWhereabouts(client, serial, phone());
      // Ignores a failure: adb can't disconnect a phone that is not in its list.
      await client.wireless.disconnect(serial).catch(() => {});
      if (there !== undefined && 'stranger' in there)
        throw new Error(`${there.stranger} has the address ${serial} now, which is another phone`);
      const isMoved = there !== undefined && instanceName(serial) === undefined && there.address !== serial;
      if (isMoved) {
        address = there.address;
        return await connectTo(client, address);
      }
      await client.wireless.connect(serial).catch(async (error: unknown) => {
        const other = there?.address ?? (await findOtherPort(client, serial, phone()));
        if (other === undefined || other === serial) throw error;
        address = other;
        await connectTo(client, other);
      });
    });
    return { address };
  } catch (error) {
    return { address, objection: error instanceof Error ? error.message : String(error) };
  }
}

function formatPause(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  return seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 60)} min`;
}
