import { runLooks, type RunStatus } from './run-status.tsx';

/** What the address says of the list of runs. */
export interface RunsSearch {
  status?: RunStatus;
  device?: string;
  automation?: string;
  since?: Since;
}

export const sinceHours = { '1h': 1, '24h': 24, '7d': 168 } as const;
export type Since = keyof typeof sinceHours;

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

export function runsSearch(given: Record<string, unknown>): RunsSearch {
  const status = Object.keys(runLooks).find((one): one is RunStatus => one === given['status']);
  const since = Object.keys(sinceHours).find((one): one is Since => one === given['since']);
  const [device, automation] = [textOf(given['device']), textOf(given['automation'])];
  return {
    ...(status === undefined ? {} : { status }),
    ...(device === undefined ? {} : { device }),
    ...(automation === undefined ? {} : { automation }),
    ...(since === undefined ? {} : { since }),
  };
}
