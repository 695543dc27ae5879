import { isDeepStrictEqual } from 'node:util';
import {
  allRoutes,
  ErrorBody,
  errorsOf,
  errorTable,
  isOfTypes,
  successStatusesOf,
  type ErrorCode,
  type RouteContract,
} from '@phalanx/protocol';
import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { Value } from 'typebox/value';

interface Reply {
  status: number;
  headers: Headers;
  text: string;
}

/** What any request may be answered with, whatever the endpoint: it never came to one. */
const edgeCodes: readonly ErrorCode[] = ['route_not_found', 'request_timeout', 'not_ready'];

const parametersIn = ({ path }: RouteContract): number => path.split('/:').length;
const patterns = allRoutes
  .toSorted((one, other) => parametersIn(one) - parametersIn(other))
  .map((contract) => ({ contract, pattern: new RegExp(`^${contract.path.replaceAll(/:\w+/g, '[^/]+')}$`) }));

function findContract(method: string, path: string): RouteContract | undefined {
  const [pathname = ''] = path.split('?', 1);
  return patterns.find(({ contract, pattern }) => contract.method === method && pattern.test(pathname))
    ?.contract;
}

const validators = new Map<TSchema, ReturnType<typeof Compile>>();

function misfits(schema: TSchema, body: unknown): string | undefined {
  const validator = validators.get(schema) ?? Compile(schema);
  validators.set(schema, validator);
  const [error] = validator.Errors(body);
  if (error !== undefined) return `${error.instancePath} ${error.message}`;
  const documented = Value.Clean(schema, structuredClone(body));
  return isDeepStrictEqual(documented, body) ? undefined : 'it has fields that are not documented';
}

function problemOfError(contract: RouteContract, { status, text }: Reply): string | undefined {
  const body: unknown = JSON.parse(text);
  const problem = misfits(contract.errorBodies?.[status] ?? ErrorBody, body);
  if (problem !== undefined) return problem;
  const { code } = Value.Parse(ErrorBody, body);
  if (errorTable[code].status !== status) return `${code} is not a ${status}`;
  const isKnown = errorsOf(contract).has(code) || edgeCodes.includes(code);
  return isKnown ? undefined : `its contract does not list the error ${code}`;
}

function problemOf(contract: RouteContract, reply: Reply): string | undefined {
  if (reply.status >= 400) return problemOfError(contract, reply);
  if (!successStatusesOf(contract).includes(reply.status)) return 'its contract does not list the status';
  if (reply.status === 304) return undefined;
  const documented = contract.responses[reply.status] ?? [];
  if (!isOfTypes(documented)) return misfits(documented, JSON.parse(reply.text));
  const [type = ''] = (reply.headers.get('content-type') ?? '').split(';', 1);
  return documented.includes(type) ? undefined : `its contract does not list the content type ${type}`;
}

/** Throws when the service answers otherwise than its document says. */
export function checkReply(method: string, path: string, reply: Reply): void {
  const contract = findContract(method, path);
  const problem = contract === undefined ? undefined : problemOf(contract, reply);
  if (problem === undefined) return;
  throw new Error(`${method} ${path} answered ${reply.status}, but ${problem}: ${reply.text.slice(0, 500)}`);
}
