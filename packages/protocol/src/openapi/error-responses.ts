import type { TSchema } from 'typebox';

import { errorTable, type ErrorCode } from '../errors.ts';
import { ErrorBody, type RouteContract } from '../rest/contract.ts';
import { isPaged } from '../rest/page.ts';
import type { Components } from './components.ts';

const ofEveryone: readonly ErrorCode[] = [
  'invalid_request',
  // Of the other methods of its path.
  'method_not_allowed',
  'expectation_failed',
  // Also where no body is taken.
  'unsupported_encoding',
  'body_too_large',
  'headers_too_large',
  'too_many_requests',
  'too_many_connections',
  'internal',
];
const ofBodies: readonly ErrorCode[] = ['malformed_json', 'unsupported_media_type', 'request_timeout'];
/** Of all that needs a token, which is looked up. */
const ofCallers: readonly ErrorCode[] = [
  'unauthorized',
  'forbidden',
  'too_many_bad_tokens',
  'storage_full',
  'storage_unavailable',
  'database_unavailable',
  'git_unavailable',
  'bucket_unavailable',
];

/** Of what users take turns at. */
const ofTurns: readonly ErrorCode[] = ['too_many_waiting', 'too_busy'];

/** What an endpoint may answer beside its own failures. */
const usualErrors = (contract: RouteContract): readonly ErrorCode[] => [
  ...ofEveryone,
  // Also of a DELETE that has no use for a body: one that is sent is read.
  ...(contract.method === 'GET' ? [] : ofBodies),
  ...(contract.scope === null ? [] : ofCallers),
  ...(isPaged(contract) ? ofTurns : []),
];

/** Every code that an endpoint may answer with. */
export const errorsOf = (contract: RouteContract): ReadonlySet<ErrorCode> =>
  new Set([...usualErrors(contract), ...(contract.errors ?? [])]);

/** The text of the table, with `<name>` for what is filled in. */
const textOf = (code: ErrorCode): string => errorTable[code].message.replaceAll(/\{(\w+)\}/g, '<$1>');

/** `NotReadyOrTooBusy`: the same name has the same codes. */
const nameOf = (codes: readonly ErrorCode[]): string =>
  codes
    .map((code) => code.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase()))
    .join('Or');

function response(codes: readonly ErrorCode[], body: TSchema, components: Components): object {
  const [code = 'internal'] = codes;
  const errors =
    code === 'compile_failed' ? { errors: ["main.ts(3,7): error TS2304: Cannot find name 'x'."] } : {};
  return components.referResponse(nameOf(codes), {
    description: codes.map((one) => `- \`${one}\`: ${textOf(one)}`).join('\n'),
    content: {
      'application/json': {
        schema: components.refer(body),
        example: { success: false, code, message: textOf(code), ...errors },
      },
    },
  });
}

/** The responses of an endpoint that are not a success, by status. */
export function errorResponses(contract: RouteContract, components: Components): Record<number, object> {
  const byStatus = Map.groupBy(errorsOf(contract), (code) => errorTable[code].status);
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => [
      status,
      response(codes, contract.errorBodies?.[status] ?? ErrorBody, components),
    ]),
  );
}
