import { createHash } from 'node:crypto';

import { LRUCache } from 'lru-cache';
import sharp from 'sharp';

import { type Size, intersect, type Rect } from '../view/rect.ts';
import { type Screen, displayRect } from './screen.ts';
import type { View } from '../view/view.ts';
import { Canvas } from '../view/canvas.ts';

/** Maximum size of the cached pictures of all phones of the process together. */
const maxKeptBytes = 32 * 1024 * 1024;

/** Encoded pictures by what they show: phones with the same screen share one. */
const kept = new LRUCache<string, Buffer, () => Promise<Buffer>>({
  maxSize: maxKeptBytes,
  sizeCalculation: ({ length }) => length,
  fetchMethod: (_key, _stale, { context: make }) => make(),
  // A caller that waits for a picture gets it, also when it was evicted at once.
  ignoreFetchAbort: true,
});

const share = (key: string, make: () => Promise<Buffer>): Promise<Buffer> =>
  kept.forceFetch(key, { context: make });

/** Hash of a screen's pixels. A screen never changes. */
const contents = new WeakMap<Screen, string>();

function contentOf(screen: Screen): string {
  const known = contents.get(screen);
  if (known !== undefined) return known;
  const content = createHash('sha256').update(paintScreen(screen)).digest('base64');
  contents.set(screen, content);
  return content;
}

/** Takes pictures of a phone's screen. */
export class Camera {
  readonly #currentScreen: () => Screen;
  readonly #isSecure: () => boolean;

  /** `isSecure`: the window in front forbids pictures. */
  constructor(currentScreen: () => Screen, isSecure: () => boolean) {
    this.#currentScreen = currentScreen;
    this.#isSecure = isSecure;
  }

  take(format: PictureFormat): Promise<Buffer> {
    return takeOf(this.#currentScreen(), format);
  }

  /** The picture that Android gives to other programs: black for a window that forbids pictures. */
  takeForShell(format: PictureFormat): Promise<Buffer> {
    return takeOf(this.#seen(), format);
  }

  /** A JPEG of so many percent of the screen's width and height. */
  takeSmall(percent: number, quality: number): Promise<Buffer> {
    const screen = this.#seen();
    return share(`${contentOf(screen)} ${percent} ${quality}`, async () =>
      shrinkPicture(await takeOf(screen, 'png'), { percent, quality }),
    );
  }

  /** The panel of another display. */
  takeOther(screen: Screen, format: PictureFormat): Promise<Buffer> {
    return takeOf(screen, format);
  }

  /** RGB of that size. */
  takePixels(size: Size): Promise<Buffer> {
    return renderPixels(this.#seen(), size);
  }

  #seen(): Screen {
    const screen = this.#currentScreen();
    return this.#isSecure() ? { ...screen, windows: [] } : screen;
  }
}

/** A raw picture is ten megabytes: too much to keep. */
function takeOf(screen: Screen, format: PictureFormat): Promise<Buffer> {
  if (format === 'raw') return renderPicture(screen, format);
  return share(`${contentOf(screen)} ${format}`, () => renderPicture(screen, format));
}

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
function paintScreen(screen: Screen, size?: Size): string {
  const canvas = new Canvas();
  canvas.rect(displayRect(screen), '#000000');
  for (const window of screen.windows) paintView(canvas, window.root, displayRect(screen));
  return canvas.toSvg(screen, size);
}

export type PictureFormat = 'png' | 'jpeg' | 'raw';

/** A picture of the screen; `raw` is RGBA without a header. Drawing runs outside the event loop. */
async function renderPicture(screen: Screen, format: PictureFormat): Promise<Buffer> {
  const image = sharp(Buffer.from(paintScreen(screen)), { density: 72 });
  if (format === 'jpeg') return image.jpeg({ quality: 80 }).toBuffer();
  if (format === 'png') return image.png({ compressionLevel: 4 }).toBuffer();
  return image.ensureAlpha().raw().toBuffer();
}

/** Three bytes a pixel. */
const renderPixels = (screen: Screen, size: Size): Promise<Buffer> =>
  sharp(Buffer.from(paintScreen(screen, size)), { density: 72 })
    .removeAlpha()
    .raw()
    .toBuffer();

async function shrinkPicture(
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
