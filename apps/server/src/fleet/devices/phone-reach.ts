import type { PhoneReach } from '@phalanx/protocol';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { DeviceAccess } from './device-access.ts';
import type { FleetDevice } from './fleet-device.ts';
import { ApiError } from '../../kernel/errors/api-error.ts';
import { boundedList } from '../../kernel/errors/bounded-list.ts';
import type { PhoneLimit, Principal } from '../../http/requests/principal.ts';
import { type PhoneLabels, readSelector, selects } from './labels/phone-labels.ts';

/** Lookups that determine which phones a request reaches. */
export interface PhoneKnowledge {
  readonly devices: DeviceAccess;
  readonly findRun: (id: string) => Promise<{ readonly device_id: string } | undefined>;
}

interface Asked extends PhoneKnowledge {
  readonly request: FastifyRequest;
  readonly principal: Principal;
  readonly limit: PhoneLimit;
}

/**
 * Throws when the request reaches a phone that the token does not, or narrows the request to the phones of the token.
 */
type Rule = (asked: Asked) => Promise<void> | void;

const isFree: Rule = () => undefined;

/**
 * Rules for tokens that `http/requests/policy.ts` has admitted. `refused` needs no rule, because the policy rejects it
 * for all of them.
 */
const rules: Record<Exclude<PhoneReach, 'refused'>, Rule> = {
  none: isFree,
  // The features of jobs and schedules check that each item has the same limit.
  kept: isFree,
  calls: isFree,
  path: phoneOfPath,
  body: phoneOfBody,
  run: phoneOfRun,
  query: phoneOfQuery,
  selector: narrowQuery,
  wall: narrowQuery,
  launch: phonesOfLaunch,
  direct: phoneOfDirect,
  work: phonesOfWork,
  own_token: itself,
};

/**
 * Restricts requests of phone-limited tokens to their phones. Register it before all routes. Returns a function that
 * sets the lookups for phones and runs; until then, such tokens reach nothing.
 */
export function limitPhones(app: FastifyInstance): (knowledge: PhoneKnowledge) => void {
  let known: PhoneKnowledge | undefined;
  app.addHook('preHandler', async (request) => {
    if (!request.hasPrincipal || request.principal.phones === null) return;
    const { principal } = request;
    const { reach } = request.routeOptions.config;
    // Git routes check the limit themselves.
    if (reach === null) return;
    if (known === undefined || reach === undefined || reach.phones === 'refused')
      throw ApiError.of('not_ready', { reason: 'starting' });
    await rules[reach.phones]({ ...known, request, principal, limit: request.principal.phones });
  });
  return (knowledge) => {
    known = knowledge;
  };
}

/** Returns a part of the request, which the contract validator has already checked. */
function partOf(request: FastifyRequest, part: 'params' | 'query' | 'body'): Record<string, unknown> {
  const given: unknown = request[part];
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- an object has properties of some kind
  return typeof given === 'object' && given !== null ? (given as Record<string, unknown>) : {};
}

const textAt = (part: Record<string, unknown>, name: string): string => {
  const value = part[name];
  return typeof value === 'string' ? value : '';
};

/**
 * Whether the caller's token reaches the phone with its current labels. Does not check the user's access to the phone.
 */
export function reachesPhone(
  labels: PhoneLabels,
  { userId, phones }: Pick<Principal, 'userId' | 'phones'>,
  device: FleetDevice,
): boolean {
  const selector = phones?.selector ?? null;
  return selector === null || selects(labels, readSelector(labels, userId, selector), device);
}

const reaches = ({ devices: { labels }, principal }: Asked, device: FleetDevice): boolean =>
  reachesPhone(labels, principal, device);

async function requirePhone(asked: Asked, id: string): Promise<void> {
  const device = await asked.devices.fleet.find(id);
  if (device !== undefined && reaches(asked, device)) return;
  throw ApiError.of('device_not_found', { device_id: id });
}

function itself({ request, principal }: Asked): void {
  if (textAt(partOf(request, 'params'), 'id') === principal.tokenId) return;
  throw ApiError.of('forbidden', {
    reason: 'A token that is limited to phones or apps can revoke only itself',
  });
}

function phoneOfPath(asked: Asked): Promise<void> {
  return requirePhone(asked, textAt(partOf(asked.request, 'params'), 'id'));
}

/** Rejects phone settings for app-limited tokens, because a proxy or a time zone applies to all apps. */
function requireNoSettings({ request, limit }: Asked): void {
  if (limit.apps === null || partOf(request, 'body')['phone_settings'] === undefined) return;
  throw ApiError.of('forbidden', {
    reason: 'A token that is limited to apps cannot change settings of phones',
  });
}

function phoneOfBody(asked: Asked): Promise<void> {
  return requirePhone(asked, textAt(partOf(asked.request, 'body'), 'device_id'));
}

async function phoneOfDirect(asked: Asked): Promise<void> {
  requireNoSettings(asked);
  return requireLaunchable(asked, [textAt(partOf(asked.request, 'body'), 'device_id')]);
}

/** Throws `devices_unavailable` for phones beyond the limit, as for phones that do not exist. */
async function requireLaunchable(asked: Asked, ids: readonly string[]): Promise<void> {
  const known = await asked.devices.fleet.findAll(ids);
  const others = ids.filter((id) => {
    const device = known.get(id);
    return device === undefined || !reaches(asked, device);
  });
  if (others.length > 0) throw ApiError.of('devices_unavailable', { devices: boundedList(others, ', ') });
}

async function phoneOfQuery(asked: Asked): Promise<void> {
  const device = await asked.devices.fleet.find(textAt(partOf(asked.request, 'query'), 'device_id'));
  if (device !== undefined && reaches(asked, device)) return;
  const reason =
    'A token that is limited to phones or apps can list only the runs of one of its phones: give device_id';
  throw ApiError.of('forbidden', { reason });
}

async function phoneOfRun(asked: Asked): Promise<void> {
  const id = textAt(partOf(asked.request, 'params'), 'id');
  const run = await asked.findRun(id.toLowerCase());
  const device = run && (await asked.devices.fleet.find(run.device_id));
  // The phone of a run may have been deleted, and its labels with it.
  if (device !== undefined && reaches(asked, device)) return;
  throw ApiError.of('run_not_found', { run_id: id });
}

/**
 * Returns the distinct phones that the body names, or undefined when it names none. Throws unless the token may launch
 * on each.
 */
async function namedPhones(asked: Asked): Promise<readonly string[] | undefined> {
  const given: unknown = partOf(asked.request, 'body')['device_ids'];
  if (!Array.isArray(given)) return undefined;
  const ids = [...new Set(given.map(String))];
  await requireLaunchable(asked, ids);
  return ids;
}

/**
 * Checks the named phones only. A job keeps the limit, so phones that its selector finds are checked when each task
 * begins.
 */
async function phonesOfWork(asked: Asked): Promise<void> {
  requireNoSettings(asked);
  await namedPhones(asked);
}

/** Adds the selector of the token to that of the request, so that both must match. */
function narrow(part: Record<string, unknown>, { selector }: PhoneLimit): void {
  if (selector === null) return;
  const given = part['selector'];
  part['selector'] = typeof given === 'string' ? `${given},${selector}` : selector;
}

function narrowQuery({ request, limit }: Asked): void {
  narrow(partOf(request, 'query'), limit);
}

async function phonesOfLaunch(asked: Asked): Promise<void> {
  requireNoSettings(asked);
  const body = partOf(asked.request, 'body');
  const named = await namedPhones(asked);
  if (named !== undefined) requireCount(asked.limit, body, named.length);
  if (body['selector'] === undefined) return;
  narrow(body, asked.limit);
  requireCount(asked.limit, body, typeof body['count'] === 'number' ? body['count'] : Infinity);
}

function requireCount({ maxPhones }: PhoneLimit, body: Record<string, unknown>, count: number): void {
  if (maxPhones === null || count <= maxPhones || body['command'] !== 'start') return;
  const how = count === Infinity ? ': give count' : '';
  throw ApiError.of('forbidden', {
    reason: `This token can launch on at most ${maxPhones} phones at once${how}`,
  });
}
