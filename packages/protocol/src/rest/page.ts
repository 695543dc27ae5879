import { IsObject, Type, type TProperties } from 'typebox';

import { Uuid } from '../ids.ts';
import { type RouteContract, success } from './contract.ts';
import { defaultPageLimit, maxPageLimit } from './page-limits.ts';

/**
 * Query of every list: omit `cursor` for the first page, then pass the last reply's `next_cursor` with the same
 * filters.
 */
export const pageQuery = {
  cursor: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 1100,
      description: 'The `next_cursor` of the previous page. Default: begin with the first page',
    }),
  ),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: maxPageLimit,
      default: defaultPageLimit,
      description: 'Maximum number of items in a page',
    }),
  ),
};

/** Query of lists whose cursor is the ID of the last row. */
export const idPageQuery = { ...pageQuery, cursor: Type.Optional(Uuid) };

/** Whether the endpoint returns a paged list. */
export const isPaged = ({ query }: RouteContract): boolean =>
  IsObject(query) && 'cursor' in query.properties && 'limit' in query.properties;

/** Returns the schema of a page of a list. */
export const pageOf = <Fields extends TProperties>(fields: Fields) =>
  Type.Object({
    success,
    ...fields,
    next_cursor: Type.Union([Type.String(), Type.Null()], {
      description: 'Pass it as `cursor` to get the next page; null on the last page',
    }),
  });
