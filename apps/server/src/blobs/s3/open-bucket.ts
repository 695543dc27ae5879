import { SettingError } from '@phalanx/settings';

import type { FaultMonitor } from '../../faults/fault-monitor.ts';
import { Bucket } from './bucket.ts';
import type { S3Config } from './s3-settings.ts';

/**
 * The bucket of the settings, which the monitor looks at from now on. Throws a `SettingError` when the storage refuses;
 * one that does not answer yet is a fault that may pass.
 */
export async function openBucket(
  config: S3Config | undefined,
  faults: FaultMonitor,
): Promise<Bucket | undefined> {
  if (config === undefined) return undefined;
  const bucket = new Bucket(config);
  faults.addProbe('s3', (extent) => bucket.probe(extent));
  try {
    await bucket.open();
  } catch (error) {
    if (!(error instanceof SettingError) && faults.note(error)) return bucket;
    bucket.close();
    throw error;
  }
  return bucket;
}
