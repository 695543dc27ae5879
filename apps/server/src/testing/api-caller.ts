import { isDeepStrictEqual } from 'node:util';

import { Type, type Static, type TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
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
import { Value } from 'typebox/value';

const JsonBody = Type.Record(Type.String(), Type.Unknown());
const jsonBody = Compile(JsonBody);

export interface ApiReply {
  status: number;
  headers: Headers;
  text: string;
  /** Empty when the reply is not a JSON object. */
  body: Static<typeof JsonBody>;
}

export interface ApiRequest {
  /** `undefined`: the caller's own token; `null`: no header. */
  token?: string | null;
  /** The whole header, for malformed ones. */
  authorization?: string;
  /** Sent as JSON. */
  body?: unknown;
  /** Sent as it is. */
  raw?: string | Uint8Array<ArrayBuffer>;
  contentType?: string | null;
  /** Headers beside those. */
  headers?: Readonly<Record<string, string>>;
}

export type ApiCaller = (method: string, path: string, request?: ApiRequest) => Promise<ApiReply>;

function headersOf(request: ApiRequest, ownToken: string): Record<string, string> {
  const headers: Record<string, string> = { ...request.headers };
  const token = request.token === undefined ? ownToken : request.token;
  if (request.authorization !== undefined) headers['authorization'] = request.authorization;
  else if (token !== null) headers['authorization'] = `Bearer ${token}`;
  const hasBody = request.body !== undefined || request.raw !== undefined;
  const contentType = request.contentType === undefined ? 'application/json' : request.contentType;
  if (hasBody && contentType !== null) headers['content-type'] = contentType;
  return headers;
}

function parsed(text: string): Static<typeof JsonBody> {
  try {
    const value: unknown = JSON.parse(text);
    return jsonBody.Check(value) ? value : {};
  } catch {
    return {};
  }
}

/** Calls the API of the server at `url` as the owner of `ownToken`, and holds each reply against the document. */
export function createApiCaller(url: string, ownToken: string): ApiCaller {
  return async (method, path, request = {}) => {
    const body = request.raw ?? (request.body === undefined ? null : JSON.stringify(request.body));
    const response = await fetch(`${url}${path}`, {
      method,
      headers: headersOf(request, ownToken),
      body: typeof body === 'string' ? new TextEncoder().encode(body) : body,
    });
    const text = await response.text();
    checkReply(method, path, { status: response.status, headers: response.headers, text });
    return { status: response.status, headers: response.headers, text, body: parsed(text) };
  };
}

interface Reply {
  status: number;
  headers: Headers;
  text: string;
}

/** Codes that any request may be answered with, whatever the endpoint: it never came to one. */
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
