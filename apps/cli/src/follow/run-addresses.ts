import type { FollowedRun } from './follow-to-end.ts';

/** Maximum number of addresses. The page of all runs lists the others. */
const maxAddresses = 10;

/** Returns the console pages of started runs, one line each. The last part of an address is the ID of the run. */
export function runAddresses(serverUrl: string, runs: readonly FollowedRun[]): string[] {
  const addresses = runs.slice(0, maxAddresses).map(({ runId }) => `${serverUrl}/runs/${runId}`);
  return runs.length > maxAddresses
    ? [...addresses, `${runs.length - maxAddresses} more: ${serverUrl}/runs`]
    : addresses;
}
