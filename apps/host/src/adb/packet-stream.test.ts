import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createPacketSplitter } from './packet-stream.ts';

const write = 0x45_54_52_57;

function packetBytes(payload: Uint8Array, length = payload.length): Buffer {
  const header = Buffer.alloc(24);
  [write, 1, 2, length, 0, (write ^ 0xff_ff_ff_ff) >>> 0].forEach((word, index) =>
    header.writeUInt32LE(word, index * 4),
  );
  return Buffer.concat([header, payload]);
}

describe('what splits a stream into packets', () => {
  it('finds the same packets however the bytes are cut', () => {
    fc.assert(
      fc.property(
        fc.array(fc.uint8Array({ maxLength: 60 }), { maxLength: 8 }),
        fc.integer({ min: 1, max: 50 }),
        (payloads, size) => {
          const bytes = Buffer.concat(payloads.map((payload) => packetBytes(payload)));
          const split = createPacketSplitter();
          const found = [];
          for (let start = 0; start < bytes.length; start += size)
            found.push(...split(bytes.subarray(start, start + size)));
          expect(found.map(({ payload }) => Buffer.from(payload).toString('hex'))).toEqual(
            payloads.map((payload) => Buffer.from(payload).toString('hex')),
          );
          expect(
            found.every(({ command, arg0, arg1 }) => command === write && arg0 === 1 && arg1 === 2),
          ).toBe(true);
        },
      ),
    );
  });

  it('refuses what is not ADB', () => {
    expect(() => createPacketSplitter()(Buffer.from('HTTP/1.1 400 Bad Request\r\n'))).toThrow(
      'does not speak ADB',
    );
  });

  it('refuses a packet that would fill the memory, before any of it has arrived', () => {
    expect(() => createPacketSplitter()(packetBytes(Buffer.alloc(0), 0xff_ff_ff_f0))).toThrow(
      'over the limit',
    );
  });
});
