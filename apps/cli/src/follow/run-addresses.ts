import type { FollowedRun } from './follow-to-end.ts';

/** The page of all runs has the others. */
const maxAddresses = 10;

/** The pages of started runs in the console, a line for each. The ID of a run is the last part of its address. */
export function runAddresses(serverUrl: string, runs: readonly FollowedRun[]): string[] {
  const addresses = runs.slice(0, maxAddresses).map(({ runId }) => `${serverUrl}/runs/${runId}`);
  return runs.length > maxAddresses
    ? [...addresses, `${runs.length - maxAddresses} more: ${serverUrl}/runs`]
    : addresses;
}
