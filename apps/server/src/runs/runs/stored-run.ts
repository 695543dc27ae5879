import {
  type Run,
  type RunDetail,
  type RunLauncher,
  type RunOutcome,
  type RunStatus,
  type SecretMatcher,
  whole,
} from '@phalanx/protocol';

import { TimeSlice } from '../../kernel/limits/time-slice.ts';
import type { OutboxEvent } from '../../storage/db/webhook-outbox.ts';
import type { HostCaller } from '../../http/requests/principal.ts';
import type { Row } from '../../storage/db/tables/tables.ts';
import { readResult } from './run-result.ts';

/** `GroupCommit` queue in which changes of runs are stored one after another. */
export const runQueue = 'runs';

/** A run as it is stored. */
export type StoredRun = Omit<Row<'run'>, 'epoch'>;

/** A run with the serial number of its device, and the connection on which it is to be sent or whose host has it. */
export interface RunToSend extends Row<'run'> {
  serial: string;
}

/** Finds a run if the host of its phone is connected, or was last, with the caller's token. */
export type FindRunOfHost = (id: string, caller: HostCaller) => Promise<StoredRun | undefined>;

export const runColumns = [
  'id',
  'launch',
  'user_id',
  'device_id',
  'device_owner_id',
  'host_id',
  'automation_id',
  'project_name',
  'launch_id',
  'status',
  'stop_requested',
  'error_code',
  'error_message',
  'error_stack',
  'outcome',
  'commit',
  'dirty',
  'created_at',
  'started_at',
  'ended_at',
  'log_left',
] satisfies readonly (keyof StoredRun)[];

/** A run with the data stored beside it. */
export interface StoredRunDetail extends StoredRun, Pick<Row<'launch'>, 'tree' | 'parameters'> {
  /** JSON. */
  result: string | null;
}

/** Launcher, device and automation of a run. */
export interface RunOrigin {
  /** User who launched it. */
  readonly userId: string;
  readonly deviceId: string;
  readonly automationId: string;
  readonly isDirect: boolean;
}

export const originOf = (row: StoredRun): RunOrigin => ({
  userId: row.user_id,
  deviceId: row.device_id,
  automationId: row.automation_id,
  isDirect: row.launch_id !== null,
});

/** Returns a run in the form of the API. */
export function runView(row: StoredRun): Run {
  return {
    run_id: row.id,
    automation_id: row.automation_id,
    launch_id: row.launch_id,
    name: row.project_name,
    launch: row.launch,
    device_id: row.device_id,
    status: row.status,
    outcome: row.outcome ?? outcomes[row.status],
    error: errorOf(row),
    commit: row.commit,
    dirty: row.dirty === null ? null : row.dirty === 1,
    created_at: row.created_at,
    started_at: row.started_at,
    ended_at: row.ended_at,
  };
}

/** Creates the webhook event for an ended run. */
export function endOf(row: StoredRun): OutboxEvent<'run.ended'> {
  const { commit: _commit, dirty: _dirty, error, name, ...run } = runView(row);
  return {
    at: row.ended_at ?? 0,
    data: {
      ...run,
      name: name ?? null,
      error: error && { code: error.code, message: error.message },
    },
    audience: { kind: 'run', ...originOf(row) },
  };
}

/** Returns a run with the data stored beside it, in the form of the API. */
export function detailView(
  row: StoredRunDetail,
  launchedBy: RunLauncher,
): Omit<RunDetail, 'records' | 'last_screen'> {
  return {
    ...runView(row),
    launched_by: launchedBy,
    project_name: row.launch_id === null ? row.project_name : null,
    tree: row.tree,
    parameters: parametersOf(row),
    result: readResult(row.result),
    log_complete: row.ended_at !== null && row.log_left === 0,
  };
}

function errorOf({ error_code: code, error_message: message, error_stack: stack }: StoredRun): Run['error'] {
  return code === null ? null : { code, message: message ?? '', stack };
}

const outcomes: Record<RunStatus, RunOutcome | null> = {
  starting: null,
  running: null,
  completed: 'succeeded',
  failed: 'failed',
  stopped: 'stopped',
  timed_out: 'timed_out',
  lost: 'lost',
};

export function parametersOf({ parameters }: StoredRunDetail): RunDetail['parameters'] {
  if (parameters === null) return null;
  // The column is written only by `keptParameters`.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return JSON.parse(parameters) as RunDetail['parameters'];
}

/** Maximum length of the JSON of kept parameters and of kept code, in UTF-16 units. */
const maxKeptLength = 1024 * 1024;

const keptJson = (json: string): string | null => (json.length > maxKeptLength ? null : json);

/**
 * Serializes the parameters of a launch for `parametersOf`, with the matcher's secrets redacted; null when they are too
 * large. Yields to other requests meanwhile.
 */
export async function keptParameters(
  { phone_settings: settings, ...given }: NonNullable<RunDetail['parameters']>,
  matcher: SecretMatcher,
): Promise<string | null> {
  const json = JSON.stringify(given);
  if (json.length > maxKeptLength) return null;
  const ofCode = await new TimeSlice().run(matcher.redactingJson(json));
  if (settings === undefined) return ofCode;
  // Names and numbers of settings are not user-defined, so they are not redacted.
  const ofPhone = JSON.stringify(settings, (_, value: unknown) =>
    typeof value === 'string' ? whole(matcher.redacting(value)) : value,
  );
  return keptJson(`${ofCode.slice(0, -1)},"phone_settings":${ofPhone}}`);
}

/** Serializes the code of a launch; null when it is too large to keep. */
export const keptCode = (code: string): string | null => keptJson(JSON.stringify(code));

// The column is written only by `keptCode`.
// oxlint-disable-next-line typescript/no-unsafe-type-assertion
export const readKeptCode = (json: string): string => JSON.parse(json) as string;
