import { errorText } from '@phalanx/settings';
import type { AdbServerClient } from '@yume-chan/adb';

import { createBackoff } from '../time/backoff.ts';
import { pause, withTimeLimit } from '../time/time-limit.ts';
import { hourMs } from '@phalanx/timing/durations';
import type { ListedDevice } from './device-list.ts';
import type { LinkedPhone } from './link.ts';
import { connectTo, findOtherPort, findWhereabouts, instanceName, isNetworkName } from './wireless.ts';

export interface ReconnectPauses {
  readonly firstMs: number;
  readonly maxMs: number;
}

// adb lists each new phone as offline for some seconds. The last pause is an hour, so that a phone that is away for
// good costs little.
const defaultPauses: ReconnectPauses = { firstMs: 5000, maxMs: hourMs };
/** Timeout in ms. adb gives an address ten seconds, and there may be two addresses. */
const answerTimeoutMs = 25_000;

export interface Reconnection {
  readonly client: AdbServerClient;
  /** Row as listed now. The row of a network phone may have left the list. */
  readonly device: () => ListedDevice;
  /** Phone that the link led to; undefined until one has answered. */
  readonly phone: () => LinkedPhone | undefined;
  readonly pauses?: ReconnectPauses | undefined;
  /** Called before each attempt, which may remove the row from the list. */
  readonly onBegin: () => void;
  /** Called after each attempt with what was done, and when the next attempt follows. */
  readonly onTry: (told: { readonly repair: string; readonly next: string }) => void;
  readonly signal: AbortSignal;
}

/**
 * Makes an adb server reconnect a phone, with growing pauses, until the signal aborts. Returns early with the new
 * address of a phone that has moved.
 */
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

/**
 * Reconnects a phone once. A network phone has to be disconnected and connected, because adb 29 drops one that it is
 * asked to reconnect.
 */
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
    return { address, objection: errorText(error) };
  }
}

function formatPause(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  return seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 60)} min`;
}
