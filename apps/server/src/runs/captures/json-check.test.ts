import { describe, expect, it } from 'vitest';
import { JsonCheck } from './json-check.ts';

function accepts(bytes: Uint8Array, chunkBytes: number): boolean {
  const check = new JsonCheck();
  try {
    for (let at = 0; at < bytes.byteLength; at += chunkBytes) check.push(bytes.subarray(at, at + chunkBytes));
    check.end();
    return true;
  } catch {
    return false;
  }
}

const objects = [
  '{}',
  ' \n{"a":[],"b":{},"c":[1,-0.5e+3,true,false,null,"x"]}\r\n\t',
  '{"text":"\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9 täg 🙂"}',
  '{"":{"":[[[]]]}}',
  '{"a":0,"a":-0}',
];
const others = [
  '',
  ' ',
  '[]',
  '1',
  '"x"',
  'null',
  '{',
  '}',
  '{}}',
  '{}{}',
  '{} x',
  '{"a"}',
  '{"a":}',
  '{"a":1,}',
  '{a:1}',
  "{'a':1}",
  '{"a":01}',
  '{"a":1.}',
  '{"a":+1}',
  '{"a":.5}',
  '{"a":NaN}',
  '{"a":tru}',
  '{"a":[1,]}',
  '{"a":[1 2]}',
  '{"a":1 "b":2}',
  '{"a":[}',
  '{"a":{]}',
  '{"a":"\u0001"}',
  '{"a":"\\x"}',
  '{"a":"\\u12g4"}',
  '{"a":"',
  '{"a":"\\',
  '{,}',
  '{"a":1}}',
  '\uFEFF{}',
  '{"a":1/**/}',
  `{"a":${'['.repeat(3000)}${']'.repeat(3000)}}`,
];

describe('the check of JSON in chunks', () => {
  it.each(objects)('lets %j through, as JSON.parse does', (text) => {
    for (const size of [1, 3, 1000]) expect(accepts(new TextEncoder().encode(text), size)).toBe(true);
    expect(() => void JSON.parse(text)).not.toThrow();
  });

  it.each(others)('refuses %j', (text) => {
    for (const size of [1, 3, 10_000]) expect(accepts(new TextEncoder().encode(text), size)).toBe(false);
  });

  it('refuses what is not UTF-8', () => {
    expect(accepts(Buffer.from('{"a":"\xff"}', 'latin1'), 100)).toBe(false);
    expect(accepts(Buffer.from('{"a":"\xc3', 'latin1'), 100)).toBe(false);
  });

  it('agrees with JSON.parse about every damaged form of a tree', () => {
    const text = JSON.stringify({
      root: { text: 'é"\\', bounds: [0, -1.5e3, null], on: true, children: [{}] },
    });
    for (let at = 0; at < text.length; at += 1) {
      for (const char of ['', '"', '{', ']', ',', ':', '0', 'e', '\\', ' ']) {
        const damaged = text.slice(0, at) + char + text.slice(at + 1);
        let isObject = true;
        try {
          const value: unknown = JSON.parse(damaged);
          isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
        } catch {
          isObject = false;
        }
        expect([damaged, accepts(new TextEncoder().encode(damaged), 7)]).toEqual([damaged, isObject]);
      }
    }
  });
});
