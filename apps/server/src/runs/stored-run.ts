import type { RunOutcome, RunStatus } from '@phalanx/protocol';

/** A run as it is stored. */
export interface StoredRun {
  /** UUIDv7, so the order of IDs is that of creation. */
  id: string;
  /** The service's own ID of the launch. */
  launch: string;
  user_id: string;
  device_id: string;
  /** Whose host runs it; the launcher may be somebody else. */
  device_owner_id: string;
  host_id: string;
  automation_id: string;
  /** The caller's launch ID; null for a project. */
  launch_id: string | null;
  status: RunStatus;
  stop_requested: number;
  error_code: string | null;
  error_message: string | null;
  error_stack: string | null;
  /** Where it says more than the status. */
  outcome: RunOutcome | null;
  /** Of a project: the newest commit, and whether there were changes since. */
  commit: string | null;
  dirty: number | null;
  created_at: number;
  started_at: number | null;
  ended_at: number | null;
}

/** A run with what is stored beside it. */
export interface StoredRunDetail extends StoredRun {
  project_name: string | null;
  tree: string | null;
  /** JSON of `{automation_parameters, job_variables}`. */
  parameters: string | null;
  user_name: string | null;
  token_name: string | null;
  /** JSON. */
  result: string | null;
}
