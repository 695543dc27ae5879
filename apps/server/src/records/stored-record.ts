export interface StoredRecord {
  /** UUIDv7 of its time, in lower case. */
  id: string;
  /** Who owns the automation. */
  owner_id: string;
  automation_id: string;
  /** `null` for direct code. */
  project_id: string | null;
  run_id: string;
  /** Whose host made it and may send its captures. */
  user_id: string;
  device_id: string;
  /** JSON, as the API shows it. */
  device_info: string;
  automation_name: string;
  /** Type, status and completeness. */
  cell: number;
  tag: string;
  /** The records of an automation that are kept by one limit: the tag of debug records, empty for all others. */
  retention_group: string;
  saved: number;
  /** 1 when it stays partial, whatever still arrives. */
  has_gap: number;
  missing_captures: number;
  /** Of those that are stored. */
  capture_bytes: number;
  added_at: number;
  /** JSON of the `RunError` that its host made the record of; null when there is none. */
  error: string | null;
}

export type CaptureState = 'none' | 'expected' | 'stored';

export interface StoredScreen {
  record_id: string;
  position: number;
  screen_id: string;
  next_stage: string;
  screen_state: string;
  max_steps: number;
  captured_at: number;
  tree: CaptureState;
  screenshot: CaptureState;
  width: number;
  height: number;
  original_width: number;
  original_height: number;
}
