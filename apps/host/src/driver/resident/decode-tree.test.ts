import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { deflateRawSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { DriverError } from '../driver-error.ts';
import { decodeTrees, decodeWindows, inflateTrees } from './decode-tree.ts';
import { encodeFrame, type Frame, readFrames } from './helper-link.ts';

/** Tree of FakeScreen as Java writes it; shipped-helper.world.test.ts checks that it still does. */
const golden = readFileSync(join(import.meta.dirname, '../../../helper/testing/golden/list.tree'));

const lengthOf = (bytes: Buffer): Buffer => {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return length;
};

describe('tier 1, trees of the resident helper', () => {
  it('are read as they were written', () => {
    const { roots, rotation, announced } = decodeTrees(golden);
    expect({ rotation, announced }).toEqual({ rotation: 1, announced: [] });
    expect(roots[0]).toMatchObject({
      className: 'android.widget.FrameLayout',
      boundsInScreen: { left: -5, top: 7, right: 1075, bottom: 97 },
      enabled: true,
      visible: true,
      clickable: false,
    });
    expect(roots[0]?.children.map(({ text, index }) => [text, index])).toEqual([
      ['Zeile 0 日本 😀', 0],
      [null, 1],
      ['Zeile 2 日本 😀', 2],
    ]);
    expect(roots[0]?.children[1]).toMatchObject({ hintText: 'A hint', inputType: '129', maxTextLength: -1 });
  });

  it('windows are read without trees, and refused by a DriverError where they are cut or go on', () => {
    const told = Buffer.from([1, 2, 1, 3, ...Buffer.from('a.b'), 9, 0, 20, 40]);
    const [window] = decodeWindows(told);
    expect(window).toEqual({
      packageName: 'a.b',
      isKeyboard: true,
      areas: [{ left: -5, top: 0, right: 10, bottom: 20 }],
    });
    for (let end = 0; end < told.length; end += 1)
      expect(() => decodeWindows(told.subarray(0, end))).toThrow(DriverError);
    expect(() => decodeWindows(Buffer.concat([told, told]))).toThrow(DriverError);
  });

  it('are refused by a DriverError, or are other trees, wherever a byte is changed or they are cut', () => {
    const outcome = (bytes: Buffer): unknown => {
      try {
        return decodeTrees(bytes);
      } catch (error) {
        return error;
      }
    };
    for (let at = 0; at < golden.length; at += 1) {
      expect(outcome(golden.subarray(0, at))).toBeInstanceOf(DriverError);
      for (const value of [0, 1, 127, 128, 255]) {
        const changed = Buffer.from(golden);
        changed[at] = value;
        const told = outcome(changed);
        if (told instanceof Error) expect(told).toBeInstanceOf(DriverError);
      }
    }
  });

  it('have no characters that the ways by XML lose, and are refused when the helper has cut them', () => {
    const text = (value: string): number[] => [Buffer.byteLength(value), ...Buffer.from(value)];
    const tree = (isCut: number): Buffer =>
      Buffer.from([
        0,
        0,
        1,
        0,
        0,
        0,
        0,
        1,
        ...text('a\vC'),
        0,
        0,
        2,
        ...text('A\0B \uFFFE 😀'),
        0,
        0,
        0,
        isCut,
      ]);
    const [root] = decodeTrees(tree(0)).roots;
    expect([root?.className, root?.text]).toEqual(['a?C', 'A?B ? 😀']);
    expect(() => decodeTrees(tree(1))).toThrow('more than 20000 nodes, or is nested deeper than 300');
  });

  it('are refused when they say another length, or are not deflated', () => {
    const packed = deflateRawSync(golden);
    expect(inflateTrees(Buffer.concat([lengthOf(golden), packed])).equals(golden)).toBe(true);
    for (const payload of [
      packed,
      Buffer.alloc(3),
      Buffer.concat([lengthOf(Buffer.alloc(5)), packed]),
      Buffer.concat([Buffer.from('ffffffff', 'hex'), packed]),
    ])
      expect(() => inflateTrees(payload)).toThrow(DriverError);
  });
});

async function framesOf(...parts: Buffer[]): Promise<Frame[]> {
  const frames: Frame[] = [];
  for await (const frame of readFrames(Readable.from(parts))) frames.push(frame);
  return frames;
}

describe('tier 1, frames of the resident helper', () => {
  const frame = encodeFrame({ kind: 64, id: 7, payload: Buffer.from('abc') });

  it('are read however the stream cuts them', async () => {
    const both = Buffer.concat([frame, frame]);
    for (let at = 1; at < both.length; at += 1) {
      const frames = await framesOf(both.subarray(0, at), both.subarray(at));
      expect(frames.map(({ kind, id, payload }) => [kind, id, payload.toString()])).toEqual([
        [64, 7, 'abc'],
        [64, 7, 'abc'],
      ]);
    }
  });

  it.each(['00000004', '80000000', 'ffffffff'])('of the length %s end the reading', async (length) => {
    await expect(framesOf(Buffer.from(`${length}40000000070000`, 'hex'))).rejects.toThrow('bytes');
  });
});
