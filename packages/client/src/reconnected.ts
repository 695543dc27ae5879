import { pause } from '@phalanx/timing/pause';
import { awayPauseMs, isPassing } from './retry.ts';

export type ConnectionUpdate =
  /** Everything up to now was yielded, and changes follow as they happen. */
  | { readonly type: 'live' }
  /** Lost connection to the service. Updates continue when the service answers again. */
  | { readonly type: 'away'; readonly error: Error };

/**
 * Yields the updates of a connection, and reconnects after each failure until a connection ends without one. Throws
 * permanent failures, and the reason of an aborted signal.
 */
export async function* reconnected<Update extends { readonly type: string }>(
  connect: (signal: AbortSignal) => AsyncIterable<Update>,
  signal: AbortSignal | undefined,
): AsyncGenerator<Update | ConnectionUpdate, void, undefined> {
  for (;;) {
    const ended = new AbortController();
    const signals = signal === undefined ? [ended.signal] : [signal, ended.signal];
    let wasLive = false;
    try {
      for await (const update of connect(AbortSignal.any(signals))) {
        wasLive ||= update.type === 'live';
        yield update;
      }
      return;
    } catch (error) {
      signal?.throwIfAborted();
      if (!(error instanceof Error) || !isPassing(error)) throw error;
      // A connection that worked gets one silent attempt to reconnect.
      if (!wasLive) yield { type: 'away', error };
    } finally {
      ended.abort();
    }
    await pause(awayPauseMs, signal);
  }
}
