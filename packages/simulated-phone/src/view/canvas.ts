import type { Rect } from './rect.ts';
import { rectHeight, rectWidth, type Size } from './rect.ts';
import { findGlyphRun, type FontWeight } from './glyphs.ts';

export interface TextStyle {
  /** Pixels. */
  readonly size: number;
  readonly color: string;
  /** Default: regular. */
  readonly weight?: FontWeight | undefined;
  /** Default: start. */
  readonly align?: 'start' | 'center' | 'end' | undefined;
  /** Longer text is cut and ends in "…". Default: unlimited. */
  readonly maxWidth?: number | undefined;
}

const number = (value: number) => String(Math.round(value * 100) / 100);

/** Collects what views draw as one SVG document; text becomes outlines, so no system font is needed. */
export class Canvas {
  readonly #parts: string[] = [];
  #clipCount = 0;

  rect(rect: Rect, fill: string, radius = 0): void {
    this.#shape(rect, `fill="${fill}"`, radius);
  }

  outline(rect: Rect, stroke: string, { width = 2, radius = 0 } = {}): void {
    this.#shape(rect, `fill="none" stroke="${stroke}" stroke-width="${number(width)}"`, radius);
  }

  circle(x: number, y: number, { radius, fill }: { radius: number; fill: string }): void {
    this.#parts.push(`<circle cx="${number(x)}" cy="${number(y)}" r="${number(radius)}" fill="${fill}"/>`);
  }

  /** A path made for a 24-unit square, as Material icons are. */
  icon(path: string, at: { left: number; top: number; size: number }, color: string): void {
    const scale = number(at.size / 24);
    this.#parts.push(
      `<path transform="translate(${number(at.left)} ${number(at.top)}) scale(${scale})" d="${path}" fill="${color}"/>`,
    );
  }

  /** One line of text on a baseline; `x` is its start, middle or end according to `align`. */
  text(text: string, at: { x: number; baseline: number }, style: TextStyle): void {
    const run = findGlyphRun(text, style);
    if (!run) return;
    const shift = style.align === 'center' ? run.width / 2 : style.align === 'end' ? run.width : 0;
    const transform = `translate(${number(at.x - shift)} ${number(at.baseline)})`;
    this.#parts.push(`<path transform="${transform}" d="${run.path}" fill="${style.color}"/>`);
  }

  /** Draws only inside the rectangle until `endClip`. */
  startClip(rect: Rect): void {
    const id = `c${this.#clipCount++}`;
    this.#parts.push(
      `<clipPath id="${id}">${this.#element(rect, '', 0)}</clipPath><g clip-path="url(#${id})">`,
    );
  }

  endClip(): void {
    this.#parts.push('</g>');
  }

  /** `shown`: the size of the picture. Default: the canvas's own. */
  toSvg({ width, height }: Size, shown: Size = { width, height }): string {
    const size = `width="${shown.width}" height="${shown.height}" viewBox="0 0 ${width} ${height}"`;
    const head = `<svg xmlns="http://www.w3.org/2000/svg" ${size} preserveAspectRatio="none">`;
    return `${head}${this.#parts.join('')}</svg>`;
  }

  #shape(rect: Rect, style: string, radius: number): void {
    if (rectWidth(rect) > 0 && rectHeight(rect) > 0) this.#parts.push(this.#element(rect, style, radius));
  }

  #element(rect: Rect, style: string, radius: number): string {
    const place = `x="${number(rect.left)}" y="${number(rect.top)}"`;
    const size = `width="${number(rectWidth(rect))}" height="${number(rectHeight(rect))}"`;
    return `<rect ${place} ${size} rx="${number(radius)}" ${style}/>`;
  }
}
