import sharp from 'sharp';
import { intersect, type Rect, type Size } from '../view/rect.ts';
import type { View } from '../view/view.ts';
import { Canvas } from '../view/canvas.ts';
import { displayRect, type Screen } from './screen.ts';

function paintView(canvas: Canvas, view: View, clip: Rect): void {
  const visible = intersect(view.frame, clip);
  if (!visible) return;
  view.paint?.(canvas);
  const children = view.children ?? [];
  if (children.length === 0) return;
  if (view.clips) canvas.startClip(visible);
  for (const child of children) paintView(canvas, child, view.clips ? visible : clip);
  if (view.clips) canvas.endClip();
}

/** The screen as one SVG document of that size. Default: the screen's own. */
export function paintScreen(screen: Screen, size?: Size): string {
  const canvas = new Canvas();
  canvas.rect(displayRect(screen), '#000000');
  for (const window of screen.windows) paintView(canvas, window.root, displayRect(screen));
  return canvas.toSvg(screen, size);
}

export type PictureFormat = 'png' | 'jpeg' | 'raw';

/** A picture of the screen; `raw` is RGBA without a header. Drawing runs outside the event loop. */
export async function renderPicture(screen: Screen, format: PictureFormat): Promise<Buffer> {
  const image = sharp(Buffer.from(paintScreen(screen)), { density: 72 });
  if (format === 'jpeg') return image.jpeg({ quality: 80 }).toBuffer();
  if (format === 'png') return image.png({ compressionLevel: 4 }).toBuffer();
  return image.ensureAlpha().raw().toBuffer();
}

/** Three bytes a pixel. */
export const renderPixels = (screen: Screen, size: Size): Promise<Buffer> =>
  sharp(Buffer.from(paintScreen(screen, size)), { density: 72 })
    .removeAlpha()
    .raw()
    .toBuffer();

export async function shrinkPicture(
  picture: Buffer,
  { percent, quality }: { percent: number; quality: number },
): Promise<Buffer> {
  const image = sharp(picture);
  const { width } = await image.metadata();
  return image
    .resize({ width: Math.round((width * percent) / 100) })
    .jpeg({ quality })
    .toBuffer();
}
