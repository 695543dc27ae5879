import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { encodeScreenshot } from './taken-picture.ts';

const png = await sharp({ create: { width: 108, height: 240, channels: 4, background: '#246' } })
  .png()
  .toBuffer();

describe('the encoder of screenshots', () => {
  it('gives a JPEG of the screen size when nothing is asked for', async () => {
    const picture = await encodeScreenshot(png, {});
    expect(picture).toMatchObject({
      mimeType: 'image/jpeg',
      width: 108,
      height: 240,
      originalWidth: 108,
      originalHeight: 240,
    });
    expect((await sharp(Buffer.from(picture.base64, 'base64')).metadata()).format).toBe('jpeg');
  });

  it('scales down to the width that is asked for and never up', async () => {
    expect(await encodeScreenshot(png, { maxWidth: 54, format: 'png' })).toMatchObject({
      mimeType: 'image/png',
      width: 54,
      height: 120,
      originalWidth: 108,
    });
    expect(await encodeScreenshot(png, { maxWidth: 500 })).toMatchObject({ width: 108 });
  });

  it('refuses what is no picture', async () => {
    await expect(encodeScreenshot(Buffer.from('no picture'), {})).rejects.toMatchObject({
      code: 'phone_answer_unexpected',
    });
  });
});
