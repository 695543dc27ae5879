import { IsObject, IsOptional, IsString, type TSchema } from 'typebox';
import { expect, it } from 'vitest';

import { allRoutes } from './all-routes.ts';

const searching = new Set(['search', 'text', 'query', 'filter', 'contains']);

it('what a query looks for in texts is never longer than 200 letters', () => {
  const unbounded = allRoutes.flatMap(({ path, query }) => {
    const fields: [string, TSchema][] =
      query !== undefined && IsObject(query) ? Object.entries(query.properties) : [];
    return fields
      .filter(
        ([name, schema]) => searching.has(name) && IsString(schema) && !(Number(schema.maxLength) <= 200),
      )
      .map(([name, schema]) => `${path} ${name}${IsOptional(schema) ? '?' : ''}`);
  });
  expect(unbounded).toEqual([]);
});
