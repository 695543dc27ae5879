import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { encodePicture, isBlack } from './encode-picture.ts';

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
