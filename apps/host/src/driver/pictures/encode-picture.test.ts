import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { encodePicture, isBlack } from './encode-picture.ts';
import { rawPicture, smallPicture } from './taken-picture.ts';

const screen = (inside: string): Promise<Buffer> =>
  sharp(Buffer.from(`<svg width="1080" height="2400"><rect width="1080" height="2400"/>${inside}</svg>`))
    .png()
    .toBuffer();

describe.each([40, 90])('a picture of quality %i', (quality) => {
  it.each([
    ['nothing', '', true],
    ['the hour in the status bar', '<text x="40" y="60" font-size="40" fill="white">12:30</text>', false],
    ['a dark grey', '<rect width="1080" height="2400" fill="#111"/>', false],
  ])('with %s on it is told apart from a black one', async (_, inside, expected) => {
    const picture = await encodePicture(await screen(inside), { quality, maxWidth: 540 });
    expect(await isBlack(picture)).toBe(expected);
  });
});

/** Creates a picture of a few bytes that claims `side` × `side` pixels. */
async function claiming(side: number): Promise<Buffer> {
  const file = await sharp({ create: { width: 8, height: 8, channels: 3, background: 'red' } })
    .jpeg()
    .toBuffer();
  // The marker is followed by a length and the bits of a sample.
  const size = file.indexOf(Buffer.from([0xff, 0xc0])) + 5;
  file.writeUInt16BE(side, size);
  file.writeUInt16BE(side, size + 2);
  return file;
}

it.each([
  ['the form that was asked for', (file: Buffer) => rawPicture(file, {})],
  ["the phone's own form", (file: Buffer) => smallPicture(file, { width: 1080, height: 2400 })],
])('a picture that claims more pixels than any screen has is refused in %s', async (_, taken) => {
  for (const side of [9000, 60_000])
    await expect(taken(await claiming(side)).finish()).rejects.toMatchObject({
      code: 'phone_answer_unexpected',
      message: expect.stringMatching(/pixel/i),
    });
});
