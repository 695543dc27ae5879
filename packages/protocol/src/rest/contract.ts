import { Type, type Static, type TSchema } from 'typebox';

import type { AuditAction } from '../audit.ts';
import { errorCodes, errorTable, type ErrorCode } from '../errors.ts';
import type { Reach } from './reach.ts';
import type { routeTags } from './route-tags.ts';

/**
 * One endpoint: its input, its output, and its callers. The server validates requests by it, the OpenAPI
 * document is made from it, and clients take their types from it.
 */
export interface RouteContract {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** With `:name` for a segment that varies. */
  path: string;
  operationId: string;
  tag: keyof typeof routeTags;
  summary: string;
  description?: string;
  /** Scope that the caller's token must have. `null`: open to everyone, without a token. */
  scope: Scope | null;
  /** Reach of a request, by which limited tokens are judged. `null` when no token is asked for. */
  reach: Reach | null;
  /**
   * Action under which the audit log has it. `null`: it changes nothing that anybody has to answer for. Every
   * method but GET has one or the other.
   */
  audit?: AuditAction | null;
  params?: TSchema;
  /** All values are strings: nothing in a query is coerced. */
  query?: TSchema;
  /** The headers with a meaning of their own for this endpoint, in lower case. */
  headers?: TSchema;
  body?: TSchema;
  /** For the document, when the fields' own examples make no sensible request. */
  bodyExample?: object;
  /** The content types of a body that is not JSON of ours. */
  bodyTypes?: readonly string[];
  /** Default 1 MiB. */
  bodyLimitBytes?: number;
  /** The schema of each success status, or the content types when the body is not JSON of ours. */
  responses: Record<number, TSchema | readonly string[]>;
  /** The failures that are this endpoint's own, beside those that every endpoint has. */
  errors?: readonly ErrorCode[];
  /** Bodies of failures that have more than every failure has. */
  errorBodies?: Record<number, TSchema>;
}

/** The schema of a value that may be missing: `null` in the JSON. */
export const nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);

/** The JSON of an endpoint's successes. */
export type ReplyOf<Contract extends RouteContract> = {
  [Status in keyof Contract['responses']]: Contract['responses'][Status] extends readonly string[]
    ? never
    : Contract['responses'][Status] extends TSchema
      ? Static<Contract['responses'][Status]>
      : never;
}[keyof Contract['responses']];

const errorTexts = errorCodes
  .map((code) => `- \`${code}\` (${errorTable[code].status}): ${errorTable[code].message}`)
  .join('\n');

/** Whether a response is described by its content types alone. */
export const isOfTypes = (response: TSchema | readonly string[]): response is readonly string[] =>
  Array.isArray(response);

/** JSON that is read has an `ETag`, so it may be unchanged (304). */
export function successStatusesOf({ method, responses }: RouteContract): number[] {
  const own = Object.keys(responses).map(Number);
  const read = responses[200];
  const isTagged = method === 'GET' && read !== undefined && !isOfTypes(read);
  return [...new Set([...own, ...(isTagged ? [304] : [])])];
}

/** The body of every reply that is not a success. */
export const ErrorBody = Type.Object(
  {
    success: Type.Literal(false),
    message: Type.String({ description: 'What is wrong, where, and what to do' }),
    code: Type.Enum(errorCodes, {
      title: 'ErrorCode',
      description: `An error code for programs; the meaning of a code never changes:\n\n${errorTexts}`,
    }),
    errors: Type.Optional(
      Type.Array(Type.String(), {
        description: 'Compile errors, one line each, with position; only if code does not compile',
      }),
    ),
  },
  { title: 'Error' },
);

/** A plain object; JSON arrays and `null` are not objects. The pattern fits every key: TypeBox's own leaves out line breaks. */
export const jsonObject = (options: { examples?: Record<string, unknown>[] } = {}) =>
  Type.Record(Type.String({ pattern: '^' }), Type.Unknown(), options);
export const JsonObject = jsonObject();

/** Always true; its type is wider, because a handler's literal is inferred as `boolean`. */
export const success = Type.Unsafe<boolean>(Type.Literal(true));
export const SuccessMessage = Type.Object({ success, message: Type.String() }, { title: 'SuccessMessage' });

/**
 * Scopes of a token: `read` everything its user sees, `launch` and stop, `edit` projects, `review` records,
 * connect as a `host`, and `admin`: manage tokens (and, for administrators, users).
 */
export const scopes = ['read', 'launch', 'edit', 'review', 'host', 'admin'] as const;
export const Scope = Type.Enum(scopes, { title: 'Scope' });
export type Scope = Static<typeof Scope>;

/** Scopes of a token whose maker names none. */
export const defaultScopes: readonly Scope[] = ['read', 'launch', 'edit', 'review'];
