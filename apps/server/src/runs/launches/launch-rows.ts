import type { PhoneSettings } from '@phalanx/protocol';
import type { OnlineDevice } from '../../fleet/devices/online-devices.ts';
import { keptTokenOf, limitsTextOf } from '../../http/requests/kept-token.ts';
import { appLimitOf } from '../../http/requests/principal.ts';
import { IncreasingIds } from '../../kernel/uuid-v7.ts';
import type { ProjectMatchers } from '../../code/secrets/project-matchers.ts';
import { keptCode, keptParameters, type StoredRun } from '../runs/stored-run.ts';
import type { Launch } from './launch.ts';
import type { LaunchPayload } from './payload-store.ts';
import type { NewLaunch } from './store.ts';

/** A run to store, with its device and the connection to send it on. */
export interface DeviceRun extends OnlineDevice {
  readonly row: StoredRun;
}

/** Rows of a launch and of its runs. */
export interface LaunchRows {
  readonly launch: NewLaunch;
  /** Direct code as `keptCode` returns it; null for a project, and for code that is too large to keep. */
  readonly code: string | null;
  readonly runs: readonly DeviceRun[];
}

/** Creates the rows of a launch. Secret values are redacted from the stored parameters. */
export async function rowsOf(launch: Launch, matchers: ProjectMatchers, now: number): Promise<LaunchRows> {
  const given = {
    automation_parameters: launch.automationParameters,
    job_variables: launch.jobVariables,
    ...phoneSettingsOf(launch),
  };
  const parameters = await keptParameters(given, await matchers.of(launch.automationId, launch.secrets));
  const ids = new IncreasingIds();
  return {
    launch: {
      id: launch.id,
      user_id: launch.launcher.userId,
      launch_id: launch.key?.launchId ?? null,
      fingerprint: launch.key?.fingerprint ?? '',
      token_name: launch.launcher.tokenName,
      budget_token: launch.launcher.budget?.tokenId ?? null,
      token_limits: limitsTextOf(keptTokenOf(launch.launcher)),
      tree: launch.project?.files.treeId ?? null,
      parameters,
      created_at: now,
    },
    code: launch.code === null ? null : keptCode(launch.code),
    runs: launch.devices.map((on) => ({ ...on, row: runRow(launch, on, ids.next(now), now) })),
  };
}

const runRow = (launch: Launch, { device }: OnlineDevice, id: string, now: number): StoredRun => ({
  id,
  launch: launch.id,
  user_id: launch.launcher.userId,
  device_id: device.id,
  device_owner_id: device.ownerId,
  host_id: device.stored.host_id,
  automation_id: launch.automationId,
  project_name: launch.project?.name ?? launch.name,
  // The launch ID of direct code is also its automation ID.
  launch_id: launch.project === null ? (launch.key?.launchId ?? null) : null,
  status: 'starting',
  stop_requested: 0,
  log_left: 0,
  error_code: null,
  error_message: null,
  error_stack: null,
  outcome: null,
  commit: launch.project?.commit ?? null,
  dirty: launch.project === null ? null : Number(launch.project.dirty),
  created_at: now,
  started_at: null,
  ended_at: null,
});

/** Returns the part of the launch message that is the same for every host. */
export function payloadOf(launch: Launch): LaunchPayload {
  const limit = appLimitOf(launch.launcher);
  return {
    launch: launch.id,
    bundle: launch.bundle,
    given: {
      automation_id: launch.automationId,
      automation_parameters: launch.automationParameters,
      job_variables: launch.jobVariables,
      masks: [...launch.masks],
      ...(launch.film && { film: true }),
      ...phoneSettingsOf(launch),
      ...(limit !== undefined && { app_limit: limit }),
    },
  };
}

const phoneSettingsOf = ({ phoneSettings }: Launch): { phone_settings?: PhoneSettings } =>
  phoneSettings === undefined ? {} : { phone_settings: phoneSettings };
