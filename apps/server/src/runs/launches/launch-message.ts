import type { LaunchSecrets, ServerMessage } from '@phalanx/protocol';
import { userMark } from '../../fleet/hosts/user-mark.ts';
import { startLimitMs } from './start-limit.ts';
import type { LaunchPayload } from './payload-store.ts';

type LaunchMessage = Extract<ServerMessage, { type: 'launch' }>;

interface SentRun {
  readonly id: string;
  readonly device_id: string;
  readonly user_id: string;
  readonly serial: string;
}

interface HostLaunch {
  readonly runs: readonly SentRun[];
  readonly secrets: LaunchSecrets;
  /** Start timeout of a single run, in ms. */
  readonly ackTimeoutMs: number;
}

/** Creates the message to the host that has the phones of these runs. */
export const launchMessage = (
  { bundle: { hash, code, sourceMap }, given }: Omit<LaunchPayload, 'launch'>,
  { runs, secrets, ackTimeoutMs }: HostLaunch,
): LaunchMessage => ({
  type: 'launch',
  ...given,
  ...(Object.keys(secrets).length > 0 && { secrets }),
  bundle: { hash, content: { code, source_map: sourceMap } },
  start_within_ms: startLimitMs(runs.length, ackTimeoutMs),
  runs: runs.map(({ id, device_id, user_id, serial }) => ({
    run_id: id,
    device_id,
    serial,
    by: userMark(device_id, user_id),
  })),
});
