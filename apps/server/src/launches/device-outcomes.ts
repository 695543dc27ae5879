import type { DeviceOutcome } from '@phalanx/protocol';

import { ApiError } from '../http/api-error.ts';

/** The body of a success. */
export interface LaunchReply {
  success: true;
  message: string;
  devices: DeviceOutcome[];
}

/** A refusal that does not say what it means for each device means the same for all of them. */
export async function refusingEach<Result>(
  deviceIds: readonly string[],
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 400 || error.devices !== undefined) throw error;
    const { code, message: reason } = error;
    const ids = [...new Set(deviceIds)];
    throw error.withDevices(
      ids.map((device_id) => ({ device_id, outcome: 'refused', code, reason, run_id: null })),
    );
  }
}
