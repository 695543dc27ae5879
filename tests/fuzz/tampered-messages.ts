import { deflateSync } from 'node:zlib';
import { Type } from 'typebox';
import fc, { type Arbitrary } from 'fast-check';

import { hostileText, hostileValue } from './hostile-values.ts';
import { SchemaValues } from './schema-values.ts';

/** Replaces an ADB message on its way to a host: its header of 24 bytes and its payload. */
export type Tampering = (header: Buffer, payload: Buffer) => Buffer;

const lengthAt = 12;

function message(header: Buffer, payload: Buffer): Buffer {
  header.writeUInt32LE(payload.length, lengthAt);
  return Buffer.concat([header, payload]);
}

/** Replies of the helper's endpoints: trees and pictures as text, elements, windows, errors. */
const Answer = Type.Object({
  sessionId: Type.Union([Type.String(), Type.Null()]),
  value: Type.Union([
    Type.String(),
    Type.Null(),
    Type.Boolean(),
    Type.Object({
      error: Type.Enum(['no such element', 'invalid session id', 'unknown error', 'stale element reference']),
      message: Type.String(),
      stacktrace: Type.String(),
    }),
    Type.Object({ ELEMENT: Type.String(), 'element-6066-11e4-a52e-4f735466cecf': Type.String() }),
    Type.Array(Type.Object({ windowId: Type.Integer(), packageName: Type.String() })),
    Type.Object({ sessionId: Type.String(), ready: Type.Boolean() }),
  ]),
});

const nested = (depth: number): string => '<android.view.View>'.repeat(depth);
const bounds = (text: string): string =>
  `<?xml version='1.0'?><hierarchy rotation="9"><node class="a" bounds="${text}"/></hierarchy>`;
const entities =
  '<!DOCTYPE a [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;">]><hierarchy>&b;</hierarchy>';
const trees = [
  `<hierarchy>${nested(100_000)}`,
  `<hierarchy>${'<node/>'.repeat(100_000)}</hierarchy>`,
  `<hierarchy ${Array.from({ length: 5000 }, (_, n) => `a${n}="x"`).join(' ')}/>`,
  bounds('[0,0][99999999999999999999,-1]'),
  bounds('[0,0]'.repeat(20_000)),
  entities,
  '<hierarchy><node text="',
  '\ufeff\0<hierarchy/>',
];

/** Returns a picture of 30,000 by 30,000 pixels that must not be decoded. */
function pictureBomb(): Buffer {
  const size = Buffer.from('0000753000007530', 'hex');
  const head = Buffer.concat([Buffer.from('IHDR'), size, Buffer.from([8, 0, 0, 0, 0])]);
  const data = Buffer.concat([Buffer.from('IDAT'), deflateSync(Buffer.alloc(10_000_000))]);
  const chunk = (body: Buffer): Buffer => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(body.length - 4);
    return Buffer.concat([length, body, Buffer.alloc(4)]);
  };
  return Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), chunk(head), chunk(data)]);
}

const bomb = pictureBomb();
const texts = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...trees, bomb.toString('base64')) },
  { weight: 2, arbitrary: hostileText },
);
const values = new SchemaValues({
  component: (ref) => ref,
  known: (field) => (field === 'value' ? undefined : texts),
});
const bodies = fc.oneof(
  values.fitting(Answer).map((one) => JSON.stringify(one)),
  values.nearly(Answer).map((one) => JSON.stringify(one) ?? ''),
  texts.map((value) => JSON.stringify({ sessionId: 'a', value })),
  hostileValue.map((value) => JSON.stringify({ sessionId: 'a', value }) ?? ''),
  hostileText,
);

/** Wrong lengths are rare, because each costs a call's full time limit. */
const wrongLengths = fc.oneof({ weight: 30, arbitrary: fc.constant(0) }, fc.constantFrom(1, -1, 10_000_000));

/** Replaces replies of the helper; other messages stay unchanged. */
const tamperedAnswer: Arbitrary<Tampering> = fc
  .tuple(bodies, fc.constantFrom(200, 200, 200, 404, 500, 999), wrongLengths)
  .map(([body, status, more]): Tampering => (header, payload) => {
    if (!payload.subarray(0, 5).equals(Buffer.from('HTTP/'))) return message(header, payload);
    const length = Math.max(0, Buffer.byteLength(body) + more);
    const head = `HTTP/1.1 ${status} x\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n`;
    return message(header, Buffer.from(head + body));
  });

const untouched: Tampering = (header, payload) => Buffer.concat([header, payload]);

/** Generates output of Android's tools that the host parses: numbers, lists, XML, pictures. */
const printed = fc.oneof(
  fc.constantFrom(
    'Physical size: 99999999999x-1\n',
    'mCurrentFocus=Window{x u0 com.a/com.b}\n'.repeat(20_000),
    'level: NaN\n  temperature: 1e309\n',
    '\x1b[2J\x1b]0;title\x07',
    'Killed',
    '\xff\xfe\xfd',
    'x'.repeat(900_000),
  ),
  texts,
);

const tamperedPayload: Arbitrary<Tampering> = fc.oneof(
  printed.map(
    (text): Tampering =>
      (header, payload) =>
        payload.length < 5 ? message(header, payload) : message(header, shellOutput(payload, text)),
  ),
  fc.constant<Tampering>((header, payload) =>
    payload.length < 5 ? untouched(header, payload) : message(header, bomb),
  ),
  fc
    .tuple(fc.nat(), fc.uint8Array({ minLength: 1, maxLength: 8 }))
    .map(([at, bytes]): Tampering => (header, payload) => {
      const changed = Buffer.from(payload);
      changed.set(bytes.subarray(0, changed.length), at % Math.max(1, changed.length - bytes.length));
      return message(header, changed);
    }),
);

/** Adds the shell protocol's header of five bytes: kind and length of the output. */
function shellOutput(payload: Buffer, text: string): Buffer {
  const body = Buffer.from(text, 'latin1').subarray(0, 1_000_000);
  const head = Buffer.from(payload.subarray(0, 5));
  head.writeUInt32LE(body.length, 1);
  return Buffer.concat([head, body]);
}

const numbers = fc.constantFrom(0, 1, 2 ** 20, 2 ** 31, 2 ** 32 - 1);
const tamperedMessage: Arbitrary<Tampering> = fc.oneof(
  fc.constant<Tampering>((header, payload) => Buffer.concat([header, payload, header, payload])),
  fc.constant<Tampering>(() => Buffer.alloc(0)),
  fc.tuple(fc.nat(5), numbers).map(([field, value]): Tampering => (header, payload) => {
    header.writeUInt32LE(value, field * 4);
    return Buffer.concat([header, payload]);
  }),
  fc.uint8Array({ maxLength: 100 }).map(
    (bytes): Tampering =>
      () =>
        Buffer.from(bytes),
  ),
);

/** Mostly no change, so that the host makes progress. */
export const tamperings: Arbitrary<Tampering> = fc.oneof(
  { weight: 60, arbitrary: fc.constant(untouched) },
  { weight: 24, arbitrary: tamperedAnswer },
  { weight: 12, arbitrary: tamperedPayload },
  { weight: 1, arbitrary: tamperedMessage },
);
