import { formatAddress } from '@phalanx/settings';
import { createBackoff } from '../time/backoff.ts';
import { anyAborted, pause } from '../time/time-limit.ts';
import { type DirectConnectionOptions, openDirectConnection } from './direct-connection.ts';
import { type LinkListener, type LinkSource, TrackedLink } from './link.ts';

export interface DirectTcpOptions extends DirectConnectionOptions {
  readonly onLink: LinkListener;
}

// A connection that lives shorter doesn't count as a success, or a phone that drops each one would be asked without a pause.
const steadyMs = 20_000;

/** Keeps an ADB connection to the daemon of the phone at an address, without an adb server between. */
export function watchAddress(options: DirectTcpOptions): LinkSource {
  const name = formatAddress(options.address);
  const link = new TrackedLink('direct-tcp', { name, place: name }, options.onLink);
  const closing = new AbortController();
  options.onLink(link);
  const done = keepConnected(link, options, closing.signal);
  return {
    async close() {
      closing.abort();
      link.setStatus({ state: 'unplugged', reason: 'The host is stopping.' });
      await done;
    },
  };
}

async function keepConnected(
  link: TrackedLink,
  options: DirectTcpOptions,
  closing: AbortSignal,
): Promise<void> {
  const backoff = createBackoff();
  while (!closing.aborted) {
    const status = await openDirectConnection(link, options, closing);
    if (closing.aborted) {
      if (status.state === 'connected') status.connection.close();
      return;
    }
    link.setStatus(status);
    if (status.state === 'connected') {
      const connectedAt = performance.now();
      await anyAborted(status.connection.gone, closing);
      if (performance.now() - connectedAt > steadyMs) backoff.reset();
      if (!closing.aborted)
        link.setStatus({
          state: 'connecting',
          reason: `The connection to ${link.name} broke. Connecting again.`,
        });
    }
    await pause(backoff.nextMs(), closing);
  }
}
