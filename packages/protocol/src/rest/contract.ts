import { Type, type TSchema } from 'typebox';

import type { Scope } from '../scopes.ts';

/**
 * One endpoint: what goes in, what comes out, who may call it. The server validates requests by it,
 * the OpenAPI document is made from it, and clients take their types from it.
 */
export interface RouteContract {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** With `:name` for a segment that varies. */
  path: string;
  operationId: string;
  tag: string;
  summary: string;
  description?: string;
  /** What the caller's token must allow. `null`: open to everyone, without a token. */
  scope: Scope | null;
  params?: TSchema;
  /** All values are strings: nothing in a query is coerced. */
  query?: TSchema;
  body?: TSchema;
  /** Default 1 MiB. */
  bodyLimitBytes?: number;
  /** The schema of each success status; a string is a content type that is not JSON. */
  responses: Record<number, TSchema | string>;
  /** The failures that are this endpoint's own, beside those that every endpoint has. */
  errors?: readonly number[];
  /** Of failures whose body has more than every failure has. */
  errorBodies?: Record<number, TSchema>;
}

/** The body of every reply that is not a success. */
export const ErrorBody = Type.Object({
  success: Type.Literal(false),
  message: Type.String({ description: 'What is wrong, where, and what to do' }),
  code: Type.String({ description: 'A stable word for programs' }),
  errors: Type.Optional(
    Type.Array(Type.String(), {
      description: 'Only when code does not compile: one line each, with position',
    }),
  ),
});

/** A plain object; JSON arrays and `null` are not objects. */
export const JsonObject = Type.Record(Type.String(), Type.Unknown());

export const success = Type.Boolean({ description: 'true' });
export const SuccessMessage = Type.Object({ success, message: Type.String() });
