import { secretErrors } from './secrets.ts';
import { webhookErrors } from './webhook-events.ts';
import { workErrors } from './runs/work-errors.ts';

/**
 * Failures that a caller can get. Each row is one code, with its HTTP status and the template of its message. A code is
 * stable and is never reused with another meaning. The code that raises the error fills in `{name}`. The caller sees
 * these values, so they never contain an internal text.
 */
export const errorTable = {
  ...secretErrors,
  malformed_json: { status: 400, message: 'The body is not valid JSON: {reason}.' },
  invalid_request: { status: 400, message: '{problem}.' },
  devices_unavailable: { status: 400, message: 'Some devices offline or not found: {devices}.' },
  launch_not_acknowledged: {
    status: 400,
    message: 'Not every device confirmed the start in time. Not started: {missing}. Started: {started}.',
  },
  launch_id_conflict: {
    status: 400,
    message:
      'launch_id {launch_id} was already used for a different request (devices, code, project or parameters differ). Use a new UUID for a new launch.',
  },
  stop_not_confirmed: {
    status: 400,
    message:
      'Some runs were not confirmed as ended within {seconds} s: {runs}. The stop is still requested; check their state with GET /api/v2/runs.',
  },
  already_running: {
    status: 400,
    message: 'The automation already runs on: {devices}. Nothing was launched. Stop it there first.',
  },
  invalid_parameters: {
    status: 400,
    message: 'The parameters do not fit parameters.schema.json of the project: {reasons}.',
  },
  invalid_parameter_schema: {
    status: 400,
    message: 'parameters.schema.json of the project is not a usable JSON Schema (2020-12): {problem}.',
  },
  invalid_masks: {
    status: 400,
    message: 'masks.json of the project cannot be used: {problem}.',
  },
  invalid_path: { status: 400, message: 'Field path {problem}.' },
  invalid_content: { status: 400, message: 'Field content {problem}.' },
  invalid_tsconfig: { status: 400, message: 'tsconfig.json cannot be used: {summary}.' },
  compiled_file: {
    status: 400,
    message: '{path} is compiled from {source}: edit or delete that file instead.',
  },
  source_conflict: {
    status: 400,
    message:
      '{path} would be compiled to {compiled}, which is already compiled from {other}: delete {other} first.',
  },
  compiled_path_taken: {
    status: 400,
    message: '{path} would be compiled to {compiled}, which is a file of yours: delete or rename it first.',
  },
  project_full: { status: 400, message: 'The project would have {problem}: delete files first.' },
  file_not_text: {
    status: 400,
    message: '{path} is not UTF-8 text, so JSON cannot hold it: clone the project with git to get it.',
  },
  nothing_to_commit: {
    status: 400,
    message: 'There are no changes to commit: write or delete a file first.',
  },
  record_already_marked: {
    status: 400,
    message: 'Record {record_id} is already marked as {status}, and that cannot be changed.',
  },
  compile_failed: { status: 400, message: 'The code does not compile: {summary}.' },
  unauthorized: { status: 401, message: '{reason} Send the header "Authorization: Bearer <API token>".' },
  forbidden: { status: 403, message: '{reason}.' },
  foreign_page: {
    status: 403,
    message:
      'A page from another origin ({origin}) may not use the session of this browser: open the console of this service, or send a token.',
  },
  capture_url_invalid: {
    status: 403,
    message: 'This capture URL is not valid: use it exactly as it is in the record.',
  },
  capture_url_expired: {
    status: 403,
    message: 'This capture URL has expired: read the record again to get a new one.',
  },
  route_not_found: {
    status: 404,
    message: 'There is no {method} {path}. The endpoints are listed at /docs.',
  },
  help_page_not_found: {
    status: 404,
    message: 'The documentation has no page {name}: GET /api/v2/help lists its pages.',
  },
  device_not_found: { status: 404, message: 'Device {device_id} was not found.' },
  host_not_found: { status: 404, message: 'Host {host_id} was not found.' },
  pairing_not_found: {
    status: 404,
    message:
      'Host {host_id} has no pairing {pairing_id}: pairings are kept for ten minutes. Start a new one.',
  },
  share_changed: {
    status: 409,
    message: 'The share of {target} now has another role: {role}. Check it, then accept that role.',
  },
  share_not_found: { status: 404, message: 'There is no share of {target} with user {user_id}.' },
  run_not_found: { status: 404, message: 'Run {run_id} was not found.' },
  project_not_found: { status: 404, message: 'Project {project_id} was not found.' },
  file_not_found: { status: 404, message: 'File {path} was not found in project {project_id}.' },
  commit_not_found: {
    status: 404,
    message:
      'Commit {hash} was not found in project {project_id}: GET /api/v2/automation/commits lists them.',
  },
  tree_not_kept: {
    status: 404,
    message:
      'The files of tree {tree} are not stored: no stored run of project {project_id} used them, or they were deleted by an earlier release.',
  },
  member_not_found: { status: 404, message: 'User {user_id} is not a member of project {project_id}.' },
  user_not_found: { status: 404, message: 'User {user_id} was not found.' },
  token_not_found: { status: 404, message: 'Token {token_id} was not found.' },
  group_not_found: { status: 404, message: 'Group {group_id} was not found.' },
  group_screen_not_found: {
    status: 404,
    message: 'Group {group_id} has no kept screen {screen}.',
  },
  replay_not_found: { status: 404, message: 'Replay {replay_id} was not found.' },
  no_replay_host: {
    status: 503,
    message:
      'No host that may replay screens of project {project_id} is connected: start one with a token of the owner, or of a shared editor who has accepted the project ("phalanx host"; it needs no phone, and PHALANX_REPLAY_PROCESSES above 0).',
  },
  too_many_replays: {
    status: 429,
    message:
      'You already have {limit} replays that have not ended, the maximum: wait until one has ended, or stop one.',
  },
  nothing_to_undo: {
    status: 409,
    message: 'No change of group {group_id} can be undone: {reason}.',
  },
  screen_expired: {
    status: 404,
    message:
      'Screen {screen_id} is unknown or has expired: screens are kept for ten minutes. Read the screen again.',
  },
  record_not_found: { status: 404, message: 'Record {record_id} was not found.' },
  capture_not_found: { status: 404, message: 'The capture was not found: its record was deleted.' },
  run_file_not_found: {
    status: 404,
    message: 'Run {run_id} has no file {name}: GET /api/v2/runs/:id/files lists them.',
  },
  film_part_not_found: {
    status: 404,
    message:
      'Run {run_id} has no picture or video {number} in its film: GET /api/v2/runs/:id/film lists them.',
  },
  capture_not_expected: {
    status: 404,
    message:
      'No record {record_id} of this user expects a {kind} of screen {screen_id}: announce the record first.',
  },
  method_not_allowed: { status: 405, message: '{path} does not support {method}; use {allowed}.' },
  user_name_taken: {
    status: 409,
    message: 'A user named "{name}" already exists, ignoring letter case: choose another name.',
  },
  user_owns_projects: {
    status: 409,
    message:
      'User {user_id} owns {count} projects: pass projects=delete to delete them too, or disable the user to keep them.',
  },
  last_administrator: {
    status: 409,
    message: 'User {user_id} is the last administrator: make another user an administrator first.',
  },
  project_name_taken: {
    status: 409,
    message: 'You already have a project named "{name}", ignoring letter case: choose another name.',
  },
  device_busy: {
    status: 409,
    message: 'Device {device_id} is connected or has runs: unplug it or stop its host, then delete it.',
  },
  device_offline: {
    status: 409,
    message: 'Device {device_id} is offline: {reason}. Ask again when its state is ready.',
  },
  host_offline: {
    status: 409,
    message: 'Host {host_id} is not connected: start it, or check its network connection.',
  },
  device_leased: {
    status: 409,
    message:
      'Device {device_id} is controlled by hand by {user} until {until}: wait, or ask them to release it.',
  },
  lease_lost: {
    status: 409,
    message:
      'Your lease of device {device_id} has ended, or another user has the device now: acquire a new lease, and read the screen again.',
  },
  device_in_use: {
    status: 409,
    message:
      'An automation is running on device {device_id} and would be disturbed: wait until it has ended, or stop it.',
  },
  too_many_projects: {
    status: 409,
    message:
      'The limit of {limit} projects per user (PHALANX_MAX_PROJECTS) is reached: delete one, or ask the operator to raise the limit.',
  },
  too_many_tokens: {
    status: 409,
    message:
      'The limit of {limit} tokens per user (PHALANX_MAX_TOKENS) is reached: revoke one, or ask the operator to raise the limit.',
  },
  project_bytes_exceeded: {
    status: 409,
    message:
      'The limit of {limit} bytes for all projects of one owner (PHALANX_MAX_PROJECT_MB) would be exceeded, so nothing was stored: delete projects, or ask the operator to raise the limit.',
  },
  run_file_exists: {
    status: 400,
    message: 'Run {run_id} already has a different file named {name}: give each file of a run a unique name.',
  },
  too_many_run_files: {
    status: 400,
    message: 'Run {run_id} already has {limit} files, the maximum for a run.',
  },
  capture_bytes_exceeded: {
    status: 409,
    message:
      'The limit of {limit} bytes for the captures of a user and the files of their runs (PHALANX_MAX_CAPTURE_MB) would be exceeded, so nothing was stored: wait until old records and runs are deleted, or ask the operator to raise the limit.',
  },
  precondition_failed: {
    status: 412,
    message:
      '{path} does not have the version that the request expects, so nothing was changed: read it again.',
  },
  body_too_large: {
    status: 413,
    message: 'The body is larger than {limit} bytes, the limit of this endpoint.',
  },
  file_too_large: {
    status: 413,
    message: 'Field content has {size} bytes of UTF-8; a file may have at most {limit}.',
  },
  unsupported_media_type: {
    status: 415,
    message: 'The body must be JSON: send the header "Content-Type: application/json".',
  },
  unsupported_encoding: {
    status: 415,
    message:
      'A body with Content-Encoding {encoding} is not supported: send it uncompressed, without that header.',
  },
  wrong_capture_type: {
    status: 415,
    message: 'This capture must be sent with the header "Content-Type: {content_type}".',
  },
  range_not_satisfiable: {
    status: 416,
    message: 'The range that the Range header requests is outside of the {size} bytes.',
  },
  misdirected_request: {
    status: 421,
    message:
      'Browsers cannot sign in to this service under the address {host}: use its own address, or have its operator set PHALANX_PUBLIC_URL.',
  },
  expectation_failed: {
    status: 417,
    message: 'The header Expect may only be 100-continue; it is {expectation}.',
  },
  upgrade_required: {
    status: 426,
    message:
      'This endpoint is a WebSocket: open it with a WebSocket client (ws:// or wss:// instead of http:// or https://).',
  },
  headers_too_large: {
    status: 431,
    message: 'The headers of the request are larger than {limit} bytes.',
  },
  request_timeout: {
    status: 408,
    message: 'The request did not arrive in time: send it again, without pauses.',
  },
  too_many_streams: {
    status: 429,
    message: '{holder} already has {limit} streams open. Close one, then try again.',
  },
  stream_fell_behind: {
    status: 408,
    message:
      'This stream was read too slowly, and its oldest events were dropped: open it again, and continue from the last event ID with automationLogs.',
  },
  too_many_requests: {
    status: 429,
    message:
      'The limit of {limit} requests per second (PHALANX_REQUESTS_PER_SECOND) is exceeded. Try again in {seconds} s.',
  },
  too_many_bad_tokens: {
    status: 429,
    message:
      'The limit of {limit} requests per minute without a valid token (PHALANX_BAD_TOKENS_PER_MINUTE) is exceeded for your address. Try again in {seconds} s.',
  },
  too_many_connections: {
    status: 429,
    message:
      'The limit of {limit} connections (PHALANX_MAX_CONNECTIONS, PHALANX_MAX_CONNECTIONS_PER_ADDRESS) is reached. Close some, and try again in {seconds} s.',
  },
  too_many_runs: {
    status: 429,
    message:
      'More than {limit} of your runs would be active (PHALANX_MAX_RUNS). Nothing was launched. Launch again when some have ended, in {seconds} s or later.',
  },
  budget_spent: {
    status: 429,
    message:
      'The token "{token}" has a budget of {most} per day, and has used {used}. Nothing was launched. The budget is reset at {free_at}.',
  },
  too_many_device_runs: {
    status: 429,
    message:
      'More than {limit} runs would be active on a device (PHALANX_MAX_RUNS_PER_DEVICE): {devices}. Nothing was launched. Launch again when some have ended, in {seconds} s or later.',
  },
  too_many_waiting: {
    status: 429,
    message:
      'You already have {limit} requests that wait for {work} (PHALANX_MAX_WAITING), the maximum, and nothing was done for this one. Send it again in {seconds} s.',
  },
  too_busy: {
    status: 503,
    message:
      'The service is too busy for {work}: users who had used less of it were served first, and nothing was done. Send it again in {seconds} s.',
  },
  internal: {
    status: 500,
    message: 'An internal error occurred in the service. Its log has the cause under request {request_id}.',
  },
  app_not_allowed: { status: 403, message: 'Device {device_id} refused the request: {reason}.' },
  host_request_failed: { status: 502, message: 'The request to device {device_id} failed: {reason}.' },
  pairing_failed: { status: 502, message: 'Host {host_id} cannot pair a device: {reason}.' },
  screen_failed: { status: 502, message: 'The screen of device {device_id} could not be read: {reason}.' },
  screenshot_failed: {
    status: 502,
    message: 'No screenshot of device {device_id} could be taken: {reason}.',
  },
  storage_full: {
    status: 507,
    message:
      'The service has no disk space left, so nothing was stored. Send it again later; its operator must free disk space.',
  },
  storage_unavailable: {
    status: 503,
    message:
      'The service cannot use its data folder: {reason}. Send it again later; its operator finds more in the log.',
  },
  database_unavailable: {
    status: 503,
    message:
      'The database of the service does not answer: {reason}. Send it again later; its operator finds more in the log.',
  },
  git_unavailable: {
    status: 503,
    message:
      'The service cannot run git, which keeps the projects: {reason}. Send it again later; its operator finds more in the log.',
  },
  bucket_unavailable: {
    status: 503,
    message:
      'The service cannot use its S3 storage: {reason}. Send it again later; its operator finds more in the log.',
  },
  compiler_unavailable: {
    status: 503,
    message:
      'The service cannot start its compiler, so nothing was changed. Send it again later; its operator finds more in the log.',
  },
  not_ready: { status: 503, message: 'The service is {reason}. Ask again in a moment.' },
  ...workErrors,
  ...webhookErrors,
} as const satisfies Record<string, { status: number; message: string }>;

export type ErrorCode = keyof typeof errorTable;

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a constant has only its own keys
export const errorCodes = Object.keys(errorTable) as ErrorCode[];

type Placeholders<Template extends string> = Template extends `${string}{${infer Name}}${infer Rest}`
  ? Name | Placeholders<Rest>
  : never;

/** Values for the placeholders in the message of a code. */
export type ErrorDetails<Code extends ErrorCode> = Record<
  Placeholders<(typeof errorTable)[Code]['message']>,
  string | number
>;

/** Returns the message of `code` with its template filled in. */
export function errorMessage<Code extends ErrorCode>(code: Code, details: ErrorDetails<Code>): string {
  const values: Record<string, string | number> = details;
  return errorTable[code].message.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(values[name]));
}
