import { createHash } from 'node:crypto';

import { LRUCache } from 'lru-cache';
import sharp from 'sharp';

import { type Size, intersect, type Rect } from '../view/rect.ts';
import { type Screen, displayRect } from './screen.ts';
import type { View } from '../view/view.ts';
import { Canvas } from '../view/canvas.ts';

/** Maximum size in bytes of the cached pictures of all phones in the process. */
const maxKeptBytes = 32 * 1024 * 1024;

/** Encoded pictures by content: phones with the same screen share one. */
const kept = new LRUCache<string, Buffer, () => Promise<Buffer>>({
  maxSize: maxKeptBytes,
  sizeCalculation: ({ length }) => length,
  fetchMethod: (_key, _stale, { context: make }) => make(),
  // Callers in flight get their picture even if it is evicted at once.
  ignoreFetchAbort: true,
});

const share = (key: string, make: () => Promise<Buffer>): Promise<Buffer> =>
  kept.forceFetch(key, { context: make });

/** Digest of each screen's pixels; screens are immutable. */
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

  /** Creates a camera. `isSecure` says whether the front window forbids screenshots. */
  constructor(currentScreen: () => Screen, isSecure: () => boolean) {
    this.#currentScreen = currentScreen;
    this.#isSecure = isSecure;
  }

  take(format: PictureFormat): Promise<Buffer> {
    return takeOf(this.#currentScreen(), format);
  }

  /** Takes the picture that other programs get from Android: black for a window that forbids screenshots. */
  takeForShell(format: PictureFormat): Promise<Buffer> {
    return takeOf(this.#seen(), format);
  }

  /** Takes a JPEG scaled to a percentage of the screen's width and height. */
  takeSmall(percent: number, quality: number): Promise<Buffer> {
    const screen = this.#seen();
    return share(`${contentOf(screen)} ${percent} ${quality}`, async () =>
      shrinkPicture(await takeOf(screen, 'png'), { percent, quality }),
    );
  }

  /** Takes a picture of another display's panel. */
  takeOther(screen: Screen, format: PictureFormat): Promise<Buffer> {
    return takeOf(screen, format);
  }

  /** Returns RGB pixels of that size. */
  takePixels(size: Size): Promise<Buffer> {
    return renderPixels(this.#seen(), size);
  }

  #seen(): Screen {
    const screen = this.#currentScreen();
    return this.#isSecure() ? { ...screen, windows: [] } : screen;
  }
}

/** Encodes a picture, from the cache except for raw ones: ten megabytes are too large to cache. */
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

/** Paints the screen as one SVG document of that size. Default: the screen's own size. */
function paintScreen(screen: Screen, size?: Size): string {
  const canvas = new Canvas();
  canvas.rect(displayRect(screen), '#000000');
  for (const window of screen.windows) paintView(canvas, window.root, displayRect(screen));
  return canvas.toSvg(screen, size);
}

export type PictureFormat = 'png' | 'jpeg' | 'raw';

/** Renders a picture of the screen; `raw` is RGBA without a header. Drawing runs outside of the event loop. */
async function renderPicture(screen: Screen, format: PictureFormat): Promise<Buffer> {
  const image = sharp(Buffer.from(paintScreen(screen)), { density: 72 });
  if (format === 'jpeg') return image.jpeg({ quality: 80 }).toBuffer();
  if (format === 'png') return image.png({ compressionLevel: 4 }).toBuffer();
  return image.ensureAlpha().raw().toBuffer();
}

/** Renders three bytes per pixel. */
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
