import { type PictureFormat, renderPicture } from './picture.ts';
import type { Screen } from './screen.ts';

/** Takes pictures of a screen and keeps the last of each format until the screen changes. */
export class Camera {
  readonly #currentScreen: () => Screen;
  readonly #pictures = new Map<PictureFormat, { screen: Screen; bytes: Promise<Buffer> }>();

  constructor(currentScreen: () => Screen) {
    this.#currentScreen = currentScreen;
  }

  take(format: PictureFormat): Promise<Buffer> {
    const screen = this.#currentScreen();
    const known = this.#pictures.get(format);
    if (known?.screen === screen) return known.bytes;
    const bytes = renderPicture(screen, format);
    // Raw pictures are ten megabytes: too much to keep for hundreds of phones.
    if (format !== 'raw') this.#pictures.set(format, { screen, bytes });
    return bytes;
  }

  /** What a picture of a window is that forbids pictures. */
  takeBlack(format: PictureFormat): Promise<Buffer> {
    return renderPicture({ ...this.#currentScreen(), windows: [] }, format);
  }
}
