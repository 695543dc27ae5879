import fc from 'fast-check';
import { expect, it } from 'vitest';

import { createFrameReader, encodeFrame } from './frames.ts';

it('messages come out as they went in, wherever the stream is cut', () => {
  fc.assert(
    fc.property(fc.array(fc.jsonValue(), { maxLength: 8 }), fc.array(fc.nat(60)), (messages, cuts) => {
      const stream = Buffer.concat(messages.map(encodeFrame));
      const read = createFrameReader(1_000_000);
      const seen: unknown[] = [];
      let start = 0;
      for (const cut of cuts) {
        seen.push(...read(stream.subarray(start, start + cut)));
        start = Math.min(stream.length, start + cut);
      }
      seen.push(...read(stream.subarray(start)));
      expect(seen).toEqual(JSON.parse(JSON.stringify(messages)));
    }),
  );
});

it('a frame over the limit is refused before its body is there', () => {
  const read = createFrameReader(10);
  expect(() => read(encodeFrame('x'.repeat(20)).subarray(0, 4))).toThrow('over the limit of 10');
});

it('a frame that is no JSON is refused', () => {
  expect(() => createFrameReader(10)(Buffer.from([0, 0, 0, 1, 0x7b]))).toThrow(SyntaxError);
});
