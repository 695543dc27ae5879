import type { LaunchSecrets, ServerMessage } from '@phalanx/protocol';
import { startLimitMs } from './start-limit.ts';
import type { LaunchPayload } from './payload-store.ts';

type LaunchMessage = Extract<ServerMessage, { type: 'launch' }>;

interface HostLaunch {
  readonly runs: LaunchMessage['runs'];
  readonly secrets: LaunchSecrets;
  /** Time that a single run has to begin. */
  readonly ackTimeoutMs: number;
}

/** Message to the host that has the phones of these runs. */
export const launchMessage = (
  { bundle: { hash, code, sourceMap }, given }: Omit<LaunchPayload, 'launch'>,
  { runs, secrets, ackTimeoutMs }: HostLaunch,
): LaunchMessage => ({
  type: 'launch',
  ...given,
  ...(Object.keys(secrets).length > 0 && { secrets }),
  bundle: { hash, content: { code, source_map: sourceMap } },
  start_within_ms: startLimitMs(runs.length, ackTimeoutMs),
  runs,
});
