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

/** A run that is to be stored, with its device and the connection that it is to be sent on. */
export interface DeviceRun extends OnlineDevice {
  readonly row: StoredRun;
}

/** Rows of a launch and of its runs. */
export interface LaunchRows {
  readonly launch: NewLaunch;
  /** Direct code as `keptCode` makes it; null for a project, and for code that is too large to be kept. */
  readonly code: string | null;
  readonly runs: readonly DeviceRun[];
}

/** Makes the rows of a launch. The values of its secrets are redacted from the parameters that are kept. */
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
  // The launch ID of direct code is its automation ID, too.
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

/** Content of the launch message of every host. */
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
