import { expect, test } from 'vitest';

import { declareParameters } from './write-types.ts';

const declared = (schema: unknown): string => declareParameters(schema).split('\n').slice(1).join('\n');

test('a schema becomes an interface with its comments', () => {
  const schema = {
    type: 'object',
    required: ['name', 'plan'],
    properties: {
      name: { type: 'string', description: 'Whom to greet.\n*/ declare const evil: 1; /*' },
      tries: { type: 'integer', default: 3 },
      plan: { enum: ['free', 'paid', 7, null] },
      tags: { type: 'array', items: { type: ['string', 'number'] } },
      pair: { type: 'array', prefixItems: [{ type: 'string' }, { type: 'number' }], items: false },
      address: { $ref: '#/$defs/address' },
      extra: { type: 'object', additionalProperties: { type: 'boolean' } },
      odd: { not: {} },
      'a "quoted" name': { const: "it's" },
    },
    $defs: { address: { type: 'object', required: ['city'], properties: { city: { type: 'string' } } } },
  };
  expect(declared(schema)).toBe(`interface AutomationParameters {
  /** Whom to greet. *\\/ declare const evil: 1; /* */
  "name": string;
  "tries": number;
  "plan": ("free" | "paid" | 7 | null);
  "tags"?: ((string | number))[];
  "pair"?: [string?, number?];
  "address"?: {
      "city": string;
    };
  "extra"?: { [name: string]: boolean };
  "odd"?: unknown;
  "a \\"quoted\\" name"?: "it's";
}
`);
});

test.each([null, 7, 'x', [], true, { type: 'string' }, { $ref: '#/nowhere' }, { anyOf: [], type: 'array' }])(
  'the schema %j is no interface',
  (schema) => {
    expect(declared(schema)).toBe('export {};\n');
  },
);

test('a schema that refers to itself in many places ends', () => {
  const properties = Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`p${n}`, { $ref: '#' }]));
  expect(declared({ type: 'object', properties }).length).toBeLessThan(1_000_000);
});
