import { Type, type TSchema } from 'typebox';
import { expect, it } from 'vitest';

import { findSchemaProblem } from './schema-problem.ts';
import { ActStep, PhoneInput } from './phones/act.ts';
import { PhoneSettings } from './phones/phone-settings.ts';
import { allRoutes } from './rest/all-routes.ts';

function sentence(schema: TSchema, value: unknown): string {
  const problem = findSchemaProblem(schema, value);
  return `${problem?.field} ${problem?.problem}`;
}

const settings = Type.Object({ phone_settings: PhoneSettings });
const nullable = Type.Object({ a: Type.Union([Type.Number(), Type.Null()]) });

it.each([
  [
    settings,
    { phone_settings: { headsUp: false } },
    'phone_settings.headsUp is not known: the fields there are http_proxy, time_zone, locale, location, brightness',
  ],
  [
    PhoneSettings,
    { timezone: 'UTC' },
    /^timezone is not known: the fields there are http_proxy, time_zone, /,
  ],
  [PhoneSettings, { locale: { shop: 'de' } }, 'locale.shop has a name that is not allowed there'],
  [PhoneSettings, { locale: {} }, 'locale must not be empty'],
  [PhoneSettings, { location: { latitude: 1 } }, 'location.longitude is required'],
  [PhoneSettings, { brightness: -1 }, 'brightness must be at least 0'],
  [nullable, { a: 'x' }, 'a must be a number or null'],
  [
    Type.Array(ActStep),
    [{ type: 'tap', on: 3, at: 4 }],
    /^\[0\]\.at is not known: the fields there are type, on/,
  ],
  [Type.Array(ActStep), [{ type: 'fly' }], /^\[0\]\.type must be one of tap, /],
  [Type.Object({ input: PhoneInput }), { input: { type: 'swipe' } }, /^input\.from_x, .* is required$/],
  [
    Type.Object({ a: Type.Array(Type.String(), { uniqueItems: true }) }),
    { a: ['x', 'x'] },
    /same item twice/,
  ],
  [Type.Array(Type.String()), {}, ' must be an array'],
] as const)('a value that does not fit is told in words for people (%#)', (schema, value, said) => {
  expect(sentence(schema, value)).toMatch(said);
});

/** Values of which each kind of schema refuses some. */
const wrong: readonly unknown[] = [null, 7, 'x', '', [], {}, { nobody: 1 }, [{ nobody: 1 }], [null], -1, 1e9];

it('no refusal of a field of the API speaks of schemas', () => {
  const ofSchemas = /schema|additional|properties|propert|constant|multiple of|[<>]=|valid$/;
  for (const { operationId, body } of allRoutes) {
    if (body === undefined) continue;
    const fields = 'properties' in body ? Object.keys(Object(body.properties)) : [];
    for (const field of fields)
      for (const value of wrong) {
        const found = findSchemaProblem(body, { [field]: value });
        expect(found?.problem ?? '', `${operationId}: ${field} = ${JSON.stringify(value)}`).not.toMatch(
          ofSchemas,
        );
      }
  }
});
