import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { checkReply } from '../../apps/server/src/testing/api-caller.ts';
import { apiRequests, type FuzzRequest } from './api-requests.ts';
import { Sender, type FuzzReply } from './send-request.ts';
import type { Person, World } from './world.ts';

export interface Violation {
  /** Seed that reproduces the batch. */
  seed: number;
  index: number;
  what: string;
  request: FuzzRequest | undefined;
}

export interface Outcome {
  /** Number of requests by status of the reply. */
  readonly statuses: Map<number, number>;
  /** Operations that have succeeded at least once. */
  readonly succeeded: Set<string>;
  readonly violations: Violation[];
  requests: number;
}

export interface CampaignOptions {
  seed: number;
  requests: number;
  atOnce: number;
  /** Number of replies per check against the document. */
  checkEvery: number;
  onBatch?: (outcome: Outcome) => Promise<void>;
  /** Prevents the start of another batch when aborted. */
  signal?: AbortSignal;
}

/** Number of requests per batch. A batch starts from one seed, in a restored world. */
export const batchSize = 1000;

const newOutcome = (): Outcome => ({
  statuses: new Map(),
  succeeded: new Set(),
  violations: [],
  requests: 0,
});

/**
 * Sends generated requests of the service's own document, many concurrently. The victim must not notice any of them.
 */
export async function fuzzApi(world: World, options: CampaignOptions): Promise<Outcome> {
  const outcome = newOutcome();
  const document = await world.document();
  const sender = new Sender(world.url, options.atOnce);
  for (
    let seed = options.seed;
    outcome.requests < options.requests && options.signal?.aborted !== true;
    seed += 1
  ) {
    const { known, tokens } = await world.renew();
    const numRuns = Math.min(batchSize, options.requests - outcome.requests);
    const requests = fc.sample(apiRequests(document, known, tokens.length), { numRuns, seed });
    const before = await world.viewOf(world.victim);
    const play = async (index: number, request: FuzzRequest): Promise<void> => {
      const reply = await sender.send(request, tokens[request.caller] ?? null);
      count(outcome, request, reply);
      const what = faultOf(request, reply, outcome.requests % options.checkEvery === 0);
      if (what !== undefined) outcome.violations.push({ seed, index, what, request });
    };
    await inTurns(requests, options.atOnce, play);
    const what = await changeOf(world, world.victim, before);
    if (what !== undefined) outcome.violations.push({ seed, index: -1, what, request: undefined });
    await options.onBatch?.(outcome);
    if (world.server.hasExited) throw new Error(`the server has ended:\n${world.server.output}`);
  }
  sender.close();
  return outcome;
}

/** Sends requests one by one as the attacker: a refused request must change nothing, for the attacker neither. */
export async function fuzzRefusals(
  world: World,
  { seed, requests }: { seed: number; requests: number },
): Promise<Outcome> {
  const outcome = newOutcome();
  const { known } = await world.renew();
  const sender = new Sender(world.url, 1);
  const sample = fc.sample(apiRequests(await world.document(), known, 1), { numRuns: requests, seed });
  let before = await world.viewOf(world.attacker);
  for (const [index, request] of sample.entries()) {
    const reply = await sender.send(request, world.attacker.token);
    count(outcome, request, reply);
    const isRefused = reply.status >= 400;
    const fault = faultOf(request, reply, true);
    const what = fault ?? (isRefused ? await changeOf(world, world.attacker, before) : undefined);
    if (what !== undefined) outcome.violations.push({ seed, index, what, request });
    if (!isRefused && request.method !== 'GET') {
      // The request may have deleted an object that the view shows.
      if (['deleteProject', 'deleteToken', 'deleteDevice'].includes(request.operation)) await world.renew();
      // The lease would otherwise end by itself during the following requests.
      if (request.operation === 'leaseDevice') await world.endLease(world.attacker);
      before = await world.viewOf(world.attacker);
    }
  }
  sender.close();
  return outcome;
}

export function describeViolation({ seed, index, what, request }: Violation): string {
  const shown = request && { ...request, body: request.body?.toString('latin1').slice(0, 2000) };
  return `seed ${seed}, request ${index}: ${what}\n  ${JSON.stringify(shown)}`;
}

export function statusTable({ statuses, requests }: Outcome): string {
  const rows = [...statuses].toSorted(([one], [other]) => one - other);
  return [...rows.map(([status, times]) => `${status}: ${times}`), `all: ${requests}`].join('\n');
}

function count(outcome: Outcome, { operation }: FuzzRequest, { status }: FuzzReply): void {
  outcome.requests += 1;
  outcome.statuses.set(status, (outcome.statuses.get(status) ?? 0) + 1);
  if (status >= 200 && status < 300) outcome.succeeded.add(operation);
}

function faultOf({ method, path }: FuzzRequest, reply: FuzzReply, isChecked: boolean): string | undefined {
  const told = `${reply.status} ${reply.text.slice(0, 500)}`;
  if (reply.status === 0) return `no answer: ${told}`;
  if (reply.status >= 500 && !isOfMissingHost(reply.text)) return `answered ${told}`;
  if (!isChecked) return undefined;
  try {
    checkReply(method, path, reply);
    return undefined;
  } catch (error) {
    return `the answer is not as documented: ${String(error)}`;
  }
}

/** Whether the error is expected: the hosts of the campaign replay no screens. */
const isOfMissingHost = (text: string): boolean => text.includes('"code":"no_replay_host"');

async function changeOf(
  world: World,
  person: Person,
  before: Record<string, unknown>,
): Promise<string | undefined> {
  const after = await world.viewOf(person);
  const changed = Object.keys(before).filter((one) => !isDeepStrictEqual(before[one], after[one]));
  if (changed.length === 0) return undefined;
  const first = changed[0] ?? '';
  return `changed what another sees of ${changed.join(', ')}: before ${JSON.stringify(before[first])}, after ${JSON.stringify(after[first])}`;
}

/** Processes items, `atOnce` at a time. */
async function inTurns<Item>(
  items: readonly Item[],
  atOnce: number,
  work: (index: number, item: Item) => Promise<void>,
): Promise<void> {
  const rest = items.entries();
  const lane = async (): Promise<void> => {
    for (const [index, item] of rest) await work(index, item);
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
}
