import fc, { type Arbitrary } from 'fast-check';

/** Texts that are known to break parsers, paths, patterns, databases and terminals. */
const texts = [
  '',
  ' ',
  '\0',
  'a\0b',
  '\ud800',
  '\udc00x',
  '\u202e\u200b\ufeff',
  'é'.normalize('NFD'),
  '..',
  '../../etc/passwd',
  '/etc/passwd',
  '.git/config',
  '.GIT/hooks/update',
  'main.ts/',
  'con.ts',
  'a\\b.ts',
  '%2e%2e%2f',
  '%00',
  '%',
  '__proto__',
  'constructor',
  'toString',
  "' OR 1=1 --",
  '-1',
  '0',
  '1e309',
  'NaN',
  'undefined',
  'null',
  '9007199254740993',
  '-- --upload-pack=id',
  '\r\nx-more: 1',
  '{}',
  '[object Object]',
  '2030-13-45T99:99:99Z',
  '+275760-09-13T00:00:00.001Z',
  '00000000-0000-0000-0000-000000000000',
  'FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF',
  '😀'.repeat(60),
  '.'.repeat(300),
  `${'a'.repeat(5000)}!`,
  '('.repeat(2000),
];

const numbers = [
  0,
  -0,
  -1,
  1,
  0.1,
  255,
  2 ** 31,
  2 ** 32,
  2 ** 53,
  2 ** 53 + 2,
  -(2 ** 63),
  1e21,
  1e308,
  -1e-320,
  8.64e15 + 1,
];

const nested = (depth: number): unknown => (depth === 0 ? [] : [nested(depth - 1)]);

export const hostileText: Arbitrary<string> = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...texts) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 40 }) },
);

const leaf: Arbitrary<unknown> = fc.oneof(
  { weight: 4, arbitrary: hostileText },
  { weight: 2, arbitrary: fc.constantFrom(...numbers) },
  { weight: 2, arbitrary: fc.constantFrom<unknown>(null, true, false) },
  { weight: 1, arbitrary: fc.constantFrom<unknown>(nested(3), nested(60), nested(200), Array(2000).fill(0)) },
);

const keys = fc.constantFrom(
  '__proto__',
  'constructor',
  'toJSON',
  'then',
  'id',
  '',
  'length',
  '$ref',
  'type',
);

/** Generates any JSON, of unexpected shapes. */
export const hostileValue: Arbitrary<unknown> = fc.oneof(
  { weight: 6, arbitrary: leaf },
  { weight: 1, arbitrary: fc.array(leaf, { maxLength: 4 }) },
  {
    weight: 2,
    // `fromEntries` makes `__proto__` an ordinary key, as in parsed JSON.
    arbitrary: fc.array(fc.tuple(keys, leaf), { maxLength: 3 }).map((pairs) => Object.fromEntries(pairs)),
  },
);
