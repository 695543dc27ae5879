import { Type, type Static, type TSchema } from 'typebox';

import type { AuditAction } from '../audit.ts';
import { errorCodes, errorTable, type ErrorCode } from '../errors.ts';
import type { Reach } from './reach.ts';
import type { routeTags } from './route-tags.ts';

/**
 * Contract of one endpoint: its input, its output, and its callers. The server validates requests against it, the
 * OpenAPI document is generated from it, and clients derive their types from it.
 */
export interface RouteContract {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path with `:name` for each parameter. */
  path: string;
  operationId: string;
  tag: keyof typeof routeTags;
  summary: string;
  description?: string;
  /** Scope that the caller's token must have. `null`: open to everyone, without a token. */
  scope: Scope | null;
  /** Resources that a request reaches, by which limited tokens are checked. `null` when no token is required. */
  reach: Reach | null;
  /**
   * Action in the audit log. `null`: the request changes nothing that has to be audited. Every method except GET has
   * one of the two.
   */
  audit?: AuditAction | null;
  params?: TSchema;
  /** Query parameters. All values are strings; nothing is coerced. */
  query?: TSchema;
  /** Headers with a special meaning for this endpoint, in lower case. */
  headers?: TSchema;
  body?: TSchema;
  /** Example for the document, when the examples of the fields make no sensible request. */
  bodyExample?: object;
  /** Content types of a body in a format other than JSON. */
  bodyTypes?: readonly string[];
  /** Maximum size of the body in bytes. Default 1 MiB. */
  bodyLimitBytes?: number;
  /** Schema of each success status, or the content types of a body in a format other than JSON. */
  responses: Record<number, TSchema | readonly string[]>;
  /** Failures specific to this endpoint, in addition to those of every endpoint. */
  errors?: readonly ErrorCode[];
  /** Bodies of failures with more fields than the common error body. */
  errorBodies?: Record<number, TSchema>;
}

/** Returns the schema of a value that may be `null`. */
export const nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);

/** JSON of an endpoint's successes. */
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

/** Returns the success statuses. JSON from a GET has an `ETag`, so it may also be unmodified (304). */
export function successStatusesOf({ method, responses }: RouteContract): number[] {
  const own = Object.keys(responses).map(Number);
  const read = responses[200];
  const isTagged = method === 'GET' && read !== undefined && !isOfTypes(read);
  return [...new Set([...own, ...(isTagged ? [304] : [])])];
}

/** Body of every error response. */
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

/**
 * Returns the schema of a plain object; JSON arrays and `null` are no objects. The pattern matches every key, while
 * TypeBox's own excludes line breaks.
 */
export const jsonObject = (options: { examples?: Record<string, unknown>[] } = {}) =>
  Type.Record(Type.String({ pattern: '^' }), Type.Unknown(), options);
export const JsonObject = jsonObject();

/** Schema of a constant true. Its type is wider, because a handler's literal is inferred as `boolean`. */
export const success = Type.Unsafe<boolean>(Type.Literal(true));
export const SuccessMessage = Type.Object({ success, message: Type.String() }, { title: 'SuccessMessage' });

/**
 * Scopes of a token: `read` everything that its user sees, `launch` and stop, `edit` projects, `review` records,
 * connect as a `host`, and `admin`: manage tokens (and, for administrators, users).
 */
export const scopes = ['read', 'launch', 'edit', 'review', 'host', 'admin'] as const;
export const Scope = Type.Enum(scopes, { title: 'Scope' });
export type Scope = Static<typeof Scope>;

/** Scopes of a token that was created without any. */
export const defaultScopes: readonly Scope[] = ['read', 'launch', 'edit', 'review'];
