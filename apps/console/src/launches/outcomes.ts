import type { Device, DeviceOutcome } from '@phalanx/protocol';

/** How a launch or a stop goes on one device, as far as it is known. */
export interface OutcomeRow {
  readonly device: Device;
  readonly outcome: DeviceOutcome['outcome'] | 'waiting' | 'not tried';
  readonly reason: string | null;
  readonly runId: string | null;
}

export const waitingRows = (devices: readonly Device[]): OutcomeRow[] =>
  devices.map((device) => ({ device, outcome: 'waiting', reason: null, runId: null }));

/** The rows with what an answer says; what it says nothing about was not tried, for the answer's reason. */
export function withOutcomes(
  rows: readonly OutcomeRow[],
  outcomes: readonly DeviceOutcome[],
  failure?: string,
): OutcomeRow[] {
  const byId = new Map(outcomes.map((outcome) => [outcome.device_id, outcome]));
  return rows.map((row) => {
    const found = byId.get(row.device.device_id);
    if (found !== undefined)
      return { ...row, outcome: found.outcome, reason: found.reason, runId: found.run_id ?? row.runId };
    if (row.outcome !== 'waiting' || failure === undefined) return row;
    return { ...row, outcome: 'not tried', reason: failure };
  });
}
