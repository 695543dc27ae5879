import { v7 as uuidv7 } from 'uuid';
import type { StoredRecord } from '../../evidence/records/stored-record.ts';

/** A record that is not stored yet. */
export const newRecord = (): StoredRecord => ({
  id: uuidv7(),
  owner_id: 'owner',
  automation_id: 'automation',
  project_id: null,
  run_id: 'run',
  user_id: 'owner',
  device_id: 'device',
  device_info: '{}',
  automation_name: 'shop',
  error: null,
  app: null,
  type: 'crash',
  status: 'pending',
  is_partial: 0,
  tag: 'default',
  retention_group: '',
  saved: 0,
  has_gap: 0,
  missing_captures: 0,
  capture_bytes: 0,
  added_at: 0,
});
