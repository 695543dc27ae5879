import { inspect } from 'node:util';
import fc from 'fast-check';
import { expect, it } from 'vitest';

import { SecretMatcher, whole } from './secret-matcher.ts';
import { maxSecretsOfProject } from '../secrets.ts';

const matcherOf = (values: readonly string[]): SecretMatcher => whole(SecretMatcher.building(values));
const redact = (values: readonly string[], text: string): string => whole(matcherOf(values).redacting(text));
const isIn = (values: readonly string[], text: string): boolean => whole(matcherOf(values).lookingIn(text));

const pem = [
  '-----BEGIN PRIVATE KEY-----',
  'MIIEvQIBADANBgkqhkiG9w0BAQEFAASC',
  'BKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj',
  'MzEfYy/=',
  'aQ==',
  '-----END PRIVATE KEY-----\n',
].join('\n');
const nasty = `it's "q" \`b\` C:\\new \u001B[1m \u007F \u0000 ä€😀`;

it.each([
  ['as it is', 'password hunter2-long!', 'password [secret]!'],
  ['within JSON', String.raw`{"a":"say \"hi\""}`, '{"a":"[secret]"}'],
  ['cut at a limit', 'tap "hunter2…', 'tap "[secret]…'],
  ['cut at a length', `${'x'.repeat(3995)}hunt`, `${'x'.repeat(3995)}[secret]`],
  ['cut within an escape', String.raw`{"a":"say \…`, '{"a":"[secret]…'],
  ['whole before the cut', `hunter2-long…`, '[secret]…'],
  [
    'cut by the console',
    'at hunter2… [cut: the message had 70000 characters, 65536 is the limit]',
    'at [secret]… [cut: the message had 70000 characters, 65536 is the limit]',
  ],
  [
    'cut by inspection',
    `{ a: 'xhunter2'... 5 more characters, b: 'hunt' }`,
    `{ a: 'x[secret]'... 5 more characters, b: 'hunt' }`,
  ],
])('a value is replaced: %s', (_, text, expected) => {
  expect(redact(['hunter2-long', 'say "hi"'], text)).toBe(expected);
});

it('a text that was not cut keeps an end that a value begins with', () => {
  expect(redact(['hunter2-long'], 'the hunt')).toBe('the hunt');
});

it('of values that overlap nothing is left between them', () => {
  expect(redact(['abcd-efgh', 'efgh-ijkl'], '<abcd-efgh-ijkl>')).toBe('<[secret]>');
  expect(redact(['abcd', 'efgh'], '<abcdefgh>')).toBe('<[secret][secret]>');
});

it('a value is found in whatever way JSON and consoles print it', () => {
  class Custom extends Error {
    override readonly name = 'Custom';
    readonly detail: string;

    constructor(detail: string) {
      super(`failed with ${detail}`);
      this.detail = detail;
    }
  }
  const ways: Record<string, (value: string) => string> = {
    'as it is': (value) => `it is ${value}`,
    object: (value) => inspect({ a: { b: { key: value } } }),
    'object after text': (value) => inspect({ key: `it's "there": ${value}` }),
    array: (value) => inspect([1, value, [value]]),
    map: (value) => inspect(new Map([[value, new Set([value])]])),
    'key of an object': (value) => inspect({ [value]: 1 }),
    error: (value) => inspect(new Custom(value)),
    'error within an object': (value) => inspect({ a: [{ error: new Custom(value) }] }, { depth: 9 }),
    'indented by a group': (value) => `  ${`text ${value}`.replaceAll('\n', '\n  ')}`,
    'object indented by a group': (value) => `    ${inspect({ value }).replaceAll('\n', '\n    ')}`,
    JSON: (value) => JSON.stringify({ value }),
    'JSON with lines': (value) => JSON.stringify({ a: [value] }, null, 2),
    'JSON of ASCII': (value) =>
      JSON.stringify({ value }).replaceAll(
        /[\u007f-\uffff]/g,
        (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
      ),
    'JSON within JSON': (value) => JSON.stringify({ a: JSON.stringify({ value }) }),
    'JSON within an object': (value) => inspect({ a: JSON.stringify({ value }) }),
    'an object within JSON': (value) => JSON.stringify({ a: inspect({ value }) }),
    'JSON within JSON within an object': (value) => inspect({ a: JSON.stringify(JSON.stringify({ value })) }),
    'behind a backslash': (value) => JSON.stringify({ value: `\\${value}` }),
  };
  const values = [
    pem,
    nasty,
    "it's",
    'two\nlines',
    '  indented\n    more\n',
    '\n\n\n\n',
    'say "hi"',
    '\\\\\\n',
  ];
  for (const value of values)
    for (const [way, print] of Object.entries(ways)) {
      const text = print(value);
      const shown = redact([value], text);
      const context = `${way} of ${JSON.stringify(value)}: ${JSON.stringify(shown)}`;
      expect(shown, context).toContain('[secret]');
      for (const line of value.split('\n').map((one) => one.trim()))
        if (line.length > 3) expect(shown, context).not.toContain(line);
      expect(isIn([value], text), context).toBe(true);
    }
});

it('a line of eight letters counts as a value, but no job is refused for the first line of a PEM file', () => {
  expect(redact([pem], 'MIIEvQIBADANBgkqhkiG9w0BAQEFAASC, MzEfYy/= and aQ==')).toBe(
    '[secret], [secret] and aQ==',
  );
  expect(redact([pem], '-----BEGIN PRIVATE KEY-----')).toBe('[secret]');
  expect(isIn([pem], '-----BEGIN PRIVATE KEY-----')).toBe(false);
  expect(isIn([pem], '-----BEGIN PRIVATE KEY-----\nMzEfYy/=')).toBe(true);
});

it('JSON stays JSON, whatever the values are', () => {
  const given = {
    'the key 4711': 1,
    pin: 4711,
    more: [-14_711.5, 'x4711', true, null],
    quote: '\n"nfoo"',
    'a":"b': { c: 'a":"b' },
  };
  const values = ['4711', 'nfoo', '":"', ':1,"', 'e,nu', '"}'];
  const json = whole(matcherOf(values).redactingJson(JSON.stringify(given)));
  expect(JSON.parse(json)).toEqual({
    'the key [secret]': 1,
    pin: '[secret]',
    more: ['[secret]', 'x[secret]', true, null],
    quote: '\n"[secret]"',
    'a[secret]b': { c: 'a[secret]b' },
  });
  expect(whole(matcherOf(['none']).redactingJson('{"a":1}'))).toBe('{"a":1}');
});

const letters = (units: string, size: { minLength: number; maxLength: number }) =>
  fc.string({ unit: fc.constantFrom(...units), ...size });

/** Finds values in a text by comparing each value at each place. */
function naive(values: readonly string[], text: string): string {
  const hidden = new Uint8Array(text.length);
  const joined = new Uint8Array(text.length + 1);
  for (const value of values)
    for (let at = 0; at + value.length <= text.length; at += 1)
      if (text.startsWith(value, at)) {
        hidden.fill(1, at, at + value.length);
        joined.fill(1, at + 1, at + value.length);
      }
  return [...text]
    .map((unit, at) => (hidden[at] === 0 ? unit : joined[at] === 1 && hidden[at - 1] === 1 ? '' : '[secret]'))
    .join('');
}

it('finds what comparing each value with each place finds, in whatever parts the text comes', () => {
  const values = fc.array(letters('abc', { minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 6 });
  const text = letters('abc', { minLength: 0, maxLength: 40 });
  const cuts = fc.array(fc.nat(40), { maxLength: 5 });
  fc.assert(
    fc.property(values, text, cuts, (some, given, places) => {
      const matcher = matcherOf(some);
      const expected = naive(some, given);
      expect(whole(matcher.redacting(given))).toBe(expected);
      expect(whole(matcher.lookingIn(given))).toBe(expected !== given);
      expect(inParts(matcher, given, places)).toBe(expected);
    }),
    { numRuns: 400 },
  );
});

it('text with escapes in parts loses what it loses as a whole', () => {
  const escapes = `ab\\n"'u0x1 +\n`;
  const values = fc.array(letters(escapes, { minLength: 1, maxLength: 5 }), { minLength: 1, maxLength: 4 });
  const text = letters(escapes, { minLength: 0, maxLength: 60 });
  const cuts = fc.array(fc.nat(60), { maxLength: 8 });
  fc.assert(
    fc.property(values, text, cuts, (some, given, places) => {
      const matcher = matcherOf(some);
      expect(inParts(matcher, given, places)).toBe(whole(matcher.redacting(given)));
    }),
    { numRuns: 400 },
  );
});

it('a value of any letters is found in JSON of it, up to three times, and as a console prints it', () => {
  const value = letters(`ab\\n"'\u0060 +\n\u001b{}`, { minLength: 4, maxLength: 12 });
  fc.assert(
    fc.property(value, letters(`ab"'\n {`, { minLength: 0, maxLength: 30 }), (secret, before) => {
      let json = before + secret;
      for (let level = 0; level < 3; level += 1) {
        json = JSON.stringify([json]);
        expect(isIn([secret], json)).toBe(true);
      }
      expect(isIn([secret], inspect([{ a: before + secret }]))).toBe(true);
    }),
    { numRuns: 300 },
  );
});

function inParts(matcher: SecretMatcher, text: string, places: readonly number[]): string {
  const cuts = [0, ...places.map((at) => Math.min(at, text.length)), text.length].toSorted(
    (one, other) => one - other,
  );
  const pass = matcher.parts();
  return cuts.map((at, no) => whole(pass(text.slice(at, cuts[no + 1]), no === cuts.length - 1))).join('');
}

it('the longest beginning of a value is found, also of one that repeats itself', () => {
  const texts = Array.from({ length: 64 }, (_, bits) => bits.toString(2).padStart(6, '0'));
  for (const value of texts) {
    const matcher = matcherOf([value]);
    for (const text of texts.filter((one) => one !== value)) {
      const length = [5, 4, 3, 2].find((one) => text.endsWith(value.slice(0, one)));
      const shown = length === undefined ? text : `${text.slice(0, -length)}[secret]`;
      expect(whole(matcher.redacting(`${text}…`))).toBe(`${shown}…`);
    }
  }
});

it('text in parts holds back no more than what may become a value', () => {
  const parts = matcherOf(['aaaa', 'bbbbc']).parts();
  const pass = (part: string, isLast: boolean): string => whole(parts(part, isLast));
  let shown = '';
  for (let part = 0; part < 1000; part += 1) shown += pass('a'.repeat(1000), false);
  expect(shown).toBe('[secret]');
  expect(pass('a bbbb', false)).toBe(' ');
  expect(pass('b', false)).toBe('b');
  expect(pass('', true)).toBe('bbbb');
});

/** Returns the minimum CPU time of several attempts, in microseconds. */
function leastTime(work: () => unknown): number {
  const once = (): number => {
    const since = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(since);
    return user + system;
  };
  return Math.min(...Array.from({ length: 7 }, once));
}

it('a text of one letter takes the same for values of that letter, however long they are', () => {
  const text = 'a'.repeat(128 * 1024);
  const timesOf = (half: number): number[] => {
    const matcher = matcherOf([`${'a'.repeat(half)}b${'a'.repeat(half - 1)}`]);
    return [
      leastTime(() => whole(matcher.redacting(text))),
      leastTime(() => whole(matcher.lookingIn(text))),
      leastTime(() => whole(matcher.parts()(text, true))),
    ];
  };
  const short = timesOf(32);
  for (const [way, time] of timesOf(4096).entries())
    expect(time / (short[way] ?? 0), `way ${way}`).toBeLessThan(16);
});

it('as many and long values as there may be, all nearly like the text, are looked for in turns', () => {
  const values = Array.from({ length: maxSecretsOfProject }, (_, no) => `${'a'.repeat(8000)}"${no}`);
  let turns = 0;
  const building = SecretMatcher.building(values);
  let step = building.next();
  for (; step.done !== true; step = building.next()) turns += 1;
  expect(turns).toBeGreaterThan(100);
  const text = `${'a'.repeat(50_000)}c`;
  expect([...step.value.redacting(text)].length).toBeGreaterThan(2);
  expect(whole(step.value.redacting(text))).toBe(text);
  expect(whole(step.value.parts()(text, true))).toBe(text);
});
