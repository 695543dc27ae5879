import fc from 'fast-check';
import { expect, test } from 'vitest';
import { adbCommand, encodeHeader, MessageReader, ProtocolError } from './adb-message.ts';

const limits = { maxPayloadBytes: () => 4096, checksumRequired: () => true };

test('messages come out the same however the bytes are cut', () => {
  const message = fc.record({
    command: fc.constantFrom(...Object.values(adbCommand)),
    arg0: fc.nat(),
    arg1: fc.nat(),
    payload: fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
  });
  fc.assert(
    fc.property(
      fc.array(message, { maxLength: 6 }),
      fc.array(fc.integer({ min: 1, max: 60 })),
      (messages, cuts) => {
        let rest = Buffer.concat(messages.flatMap((one) => [encodeHeader(one, true), one.payload]));
        const reader = new MessageReader(limits);
        const read = [];
        for (const cut of [...cuts, rest.length]) {
          read.push(...reader.push(rest.subarray(0, cut)));
          rest = rest.subarray(cut);
        }
        expect(read).toEqual(messages);
      },
    ),
  );
});

test('random bytes give messages or a ProtocolError, nothing else', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      try {
        const messages = [...new MessageReader(limits).push(Buffer.from(bytes))];
        expect(messages.length).toBeLessThan(13);
      } catch (error) {
        expect(error).toBeInstanceOf(ProtocolError);
      }
    }),
  );
});

test('a wrong checksum is refused where checksums count', () => {
  const payload = Buffer.from('abc');
  const header = encodeHeader({ command: adbCommand.wrte, arg0: 1, arg1: 1, payload }, false);
  const bytes = Buffer.concat([header, payload]);
  expect(() => [...new MessageReader(limits).push(bytes)]).toThrow('wrong checksum');
  expect([...new MessageReader({ ...limits, checksumRequired: () => false }).push(bytes)]).toHaveLength(1);
});
