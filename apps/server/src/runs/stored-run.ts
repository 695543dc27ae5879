import type { RunStatus } from '@phalanx/protocol';

/** A run as it is stored. */
export interface StoredRun {
  /** UUIDv7, so the order of IDs is that of creation. */
  id: string;
  /** The service's own ID of the launch. */
  launch: string;
  user_id: string;
  device_id: string;
  host_id: string;
  automation_id: string;
  /** The caller's launch ID; null for a project. */
  launch_id: string | null;
  status: RunStatus;
  stop_requested: number;
  error_code: string | null;
  error_message: string | null;
  /** Of a project: the newest commit, and whether there were changes since. */
  commit: string | null;
  dirty: number | null;
  created_at: number;
  started_at: number | null;
  ended_at: number | null;
}
