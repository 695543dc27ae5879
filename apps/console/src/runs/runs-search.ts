import { sinceOf, type Since } from '../parts/time.tsx';
import { runLooks, type RunStatus } from './run-status.tsx';

/** What the address says of the list of runs. */
export interface RunsSearch {
  status?: RunStatus;
  device?: string;
  automation?: string;
  since?: Since;
  /** Text in the name, the ID or the error. */
  q?: string;
}

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

export function runsSearch(given: Record<string, unknown>): RunsSearch {
  const status = Object.keys(runLooks).find((one): one is RunStatus => one === given['status']);
  const since = sinceOf(given['since']);
  const [device, automation, q] = [textOf(given['device']), textOf(given['automation']), textOf(given['q'])];
  return {
    ...(status === undefined ? {} : { status }),
    ...(device === undefined ? {} : { device }),
    ...(automation === undefined ? {} : { automation }),
    ...(since === undefined ? {} : { since }),
    ...(q === undefined ? {} : { q: q.slice(0, 200) }),
  };
}

/** What the address says of a run's page. */
export interface RunSearch {
  step?: number;
}

export const runSearch = ({ step }: Record<string, unknown>): RunSearch =>
  typeof step === 'number' && step > 0 ? { step } : {};
