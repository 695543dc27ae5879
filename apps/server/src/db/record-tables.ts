import type { EpochMs, Flag, Json } from './column-types.ts';

export interface RecordTable {
  /** UUIDv7 of its time, in lower case. */
  id: string;
  /** Who owns the automation. */
  owner_id: string;
  automation_id: string;
  /** Null for direct code. */
  project_id: string | null;
  run_id: string;
  /** Whose host made it and may send its captures. */
  user_id: string;
  device_id: string;
  /** As the API shows it. */
  device_info: Json;
  automation_name: string;
  /** Type, status and completeness. */
  cell: number;
  tag: string;
  /** The records of an automation that are kept by one limit: the tag of debug records, empty for all others. */
  retention_group: string;
  saved: Flag;
  /** 1 when it stays partial, whatever still arrives. */
  has_gap: Flag;
  missing_captures: number;
  /** Of those that are stored. */
  capture_bytes: number;
  added_at: EpochMs;
  /** Of the `RunError` that its host made the record of; null when there is none. */
  error: Json | null;
}

type CaptureState = 'none' | 'expected' | 'stored';

export interface RecordScreenTable {
  record_id: string;
  position: number;
  screen_id: string;
  next_stage: string;
  screen_state: string;
  max_steps: number;
  captured_at: EpochMs;
  tree: CaptureState;
  screenshot: CaptureState;
  width: number;
  height: number;
  original_width: number;
  original_height: number;
}

/** A node of the tree in which the records of a list are counted; a column for each cell. */
export type RecordTallyTable = { list: string; node: string; is_split: Flag; n: number } & Record<
  `c${number}`,
  number
>;
