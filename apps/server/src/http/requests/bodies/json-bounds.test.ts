import { launchRoutes } from '@phalanx/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { startBody, TestServer } from '../../../testing/test-server.ts';
import { findExcess, JsonScan } from './json-bounds.ts';

const path = launchRoutes.launchDirect.path;
const mebibyte = 1024 * 1024;
let server: TestServer;

beforeAll(async () => {
  server = await TestServer.start();
});
afterAll(() => server.dispose());

const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
const manyNames = (count: number): string =>
  `{${Array.from({ length: count }, (_, index) => `"k${index}":0`).join(',')}}`;

describe('a body', () => {
  it.each<[string, string, number, string]>([
    ['of 4 MB of lists in one another', '['.repeat(4 * mebibyte), 400, 'malformed_json'],
    ['nested in a field', `{"automation_parameters":${nested(100)}}`, 400, 'malformed_json'],
    ['of more bytes than its endpoint takes', ' '.repeat(6 * mebibyte), 413, 'body_too_large'],
    ['of many names', manyNames(30_000), 400, 'malformed_json'],
    ['of many values', `{"a":[${'0,'.repeat(300_000)}0]}`, 400, 'malformed_json'],
    ['of many empty objects', `{"a":[${'{},'.repeat(30_000)}{}]}`, 400, 'malformed_json'],
    [
      'of many long texts',
      `{"a":["${'x'.repeat(mebibyte)}","${'x'.repeat(mebibyte)}"]}`,
      413,
      'body_too_large',
    ],
  ])('%s is refused before it is parsed', async (_, raw, status, code) => {
    expect(await server.api('POST', path, { raw })).toMatchObject({ status, body: { code } });
  });

  it('may have much code, and brackets in it', async () => {
    const body = startBody('0', crypto.randomUUID(), { code: `// ${'[{"'.repeat(mebibyte)}` }).body;
    expect(await server.api('POST', path, { body })).toMatchObject({ body: { code: 'devices_unavailable' } });
  });
});

describe('what goes beyond the bounds', () => {
  const excessOf = (text: string): string | undefined => findExcess(Buffer.from(text));

  it('is no matter of texts', () => {
    expect(excessOf(JSON.stringify({ a: '[{'.repeat(1000), 'b"\\': '\\"[' }))).toBeUndefined();
    expect(excessOf(`["\\\\",${nested(100)}]`)).toBe('is nested more than 64 levels deep');
    expect(excessOf(nested(64))).toBeUndefined();
    expect(excessOf(nested(65))).toBe('is nested more than 64 levels deep');
  });

  it('leaves the longest text out of the size', () => {
    const sizeOf = (text: string): number => {
      const scan = new JsonScan();
      scan.push(Buffer.from(text));
      return scan.bytesAroundText;
    };
    expect(sizeOf('{"a":"bcdef"}')).toBe(8);
    expect(sizeOf('{"a":"')).toBe(5);
  });

  it('is the same wherever a body is cut into pieces', () => {
    const text = Buffer.from(`{"a\\\\":"[\\"[\\\\","b":${nested(65)}}`);
    for (let cut = 0; cut <= text.length; cut += 1) {
      const scan = new JsonScan();
      const first = scan.push(text.subarray(0, cut));
      expect(first ?? scan.push(text.subarray(cut))).toBe('is nested more than 64 levels deep');
      const [one, other] = [new JsonScan(), new JsonScan()];
      one.push(text);
      other.push(text.subarray(0, cut));
      other.push(text.subarray(cut));
      expect(other.bytesAroundText).toBe(one.bytesAroundText);
    }
  });
});
