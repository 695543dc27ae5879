import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

import opentype from 'opentype.js';

import { type Rect, rectHeight, rectWidth, type Size } from './rect.ts';

export interface TextStyle {
  /** Font size in pixels. */
  readonly size: number;
  readonly color: string;
  /** Font weight. Default: regular. */
  readonly weight?: FontWeight | undefined;
  /** Alignment. Default: start. */
  readonly align?: 'start' | 'center' | 'end' | undefined;
  /** Maximum width; longer text is cut and ends in "…". Default: unlimited. */
  readonly maxWidth?: number | undefined;
}

const number = (value: number) => String(Math.round(value * 100) / 100);

/** Collects the drawings of views as one SVG document. Text becomes outlines, so that no system font is needed. */
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

  /** Draws a path of a 24-unit square, as Material icons are. */
  icon(path: string, at: { left: number; top: number; size: number }, color: string): void {
    const scale = number(at.size / 24);
    this.#parts.push(
      `<path transform="translate(${number(at.left)} ${number(at.top)}) scale(${scale})" d="${path}" fill="${color}"/>`,
    );
  }

  /** Draws one line of text on a baseline; `x` is its start, middle or end according to `align`. */
  text(text: string, at: { x: number; baseline: number }, style: TextStyle): void {
    const run = findGlyphRun(text, style);
    if (!run) return;
    const shift = style.align === 'center' ? run.width / 2 : style.align === 'end' ? run.width : 0;
    const transform = `translate(${number(at.x - shift)} ${number(at.baseline)})`;
    this.#parts.push(`<path transform="${transform}" d="${run.path}" fill="${style.color}"/>`);
  }

  /** Clips drawing to the rectangle until `endClip`. */
  startClip(rect: Rect): void {
    const id = `c${this.#clipCount++}`;
    this.#parts.push(
      `<clipPath id="${id}">${this.#element(rect, '', 0)}</clipPath><g clip-path="url(#${id})">`,
    );
  }

  endClip(): void {
    this.#parts.push('</g>');
  }

  /** Returns the SVG document. `shown` is the size of the picture. Default: the size of the canvas. */
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

export type FontWeight = 'regular' | 'medium';

const fontFiles: Record<FontWeight, string> = {
  regular: '@expo-google-fonts/roboto/400Regular/Roboto_400Regular.ttf',
  medium: '@expo-google-fonts/roboto/500Medium/Roboto_500Medium.ttf',
};

interface GlyphRun {
  /** SVG path data with the start of the baseline at 0,0. */
  readonly path: string;
  readonly width: number;
}

/** Maximum number of cached lines, shared by all phones of the process. Texts of screens repeat, so few suffice. */
const maxCachedRuns = 5000;

/** Maximum number of characters; no line of a phone's screen has more. */
const maxCharacters = 300;

const runs = new Map<string, GlyphRun>();
const fonts = new Map<FontWeight, opentype.Font>();

/** Loads a font on first use: a phone without viewers needs none. */
function getFont(weight: FontWeight): opentype.Font {
  const known = fonts.get(weight);
  if (known) return known;
  const bytes = readFileSync(createRequire(import.meta.url).resolve(fontFiles[weight]));
  const font = opentype.parse(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength));
  fonts.set(weight, font);
  return font;
}

const round = (value: number) => String(Math.round(value * 10) / 10);

/** Returns SVG path data. The library's own omits the space before a number that rounds to minus zero. */
function pathData(commands: readonly opentype.PathCommand[]): string {
  return commands
    .map((command) => {
      if (command.type === 'Z') return 'Z';
      const control = 'x1' in command ? `${round(command.x1)} ${round(command.y1)} ` : '';
      const second = 'x2' in command ? `${round(command.x2)} ${round(command.y2)} ` : '';
      return `${command.type}${control}${second}${round(command.x)} ${round(command.y)}`;
    })
    .join('');
}

/** Lays out glyphs one by one, because the library's shaping fails at a substitution of this font. */
function layOut(font: opentype.Font, text: string, size: number): GlyphRun {
  const scale = size / font.unitsPerEm;
  const path = new opentype.Path();
  let x = 0;
  for (const character of text) {
    const glyph = font.charToGlyph(character);
    path.extend(glyph.getPath(x, 0, size));
    x += (glyph.advanceWidth ?? 0) * scale;
  }
  return { path: pathData(path.commands), width: x };
}

function widthOf(font: opentype.Font, text: string, size: number): number {
  let units = 0;
  for (const character of text) units += font.charToGlyph(character).advanceWidth ?? 0;
  return (units * size) / font.unitsPerEm;
}

function shorten(
  font: opentype.Font,
  text: string,
  { size, maxWidth }: { size: number; maxWidth: number },
): string {
  if (widthOf(font, text, size) <= maxWidth) return text;
  const characters = Array.from(text);
  while (characters.length > 0 && widthOf(font, `${characters.join('')}…`, size) > maxWidth) characters.pop();
  return `${characters.join('')}…`;
}

/** Returns the outlines of one line of text; undefined for an empty one. */
function findGlyphRun(
  text: string,
  style: { size: number; weight?: FontWeight | undefined; maxWidth?: number | undefined },
): GlyphRun | undefined {
  if (text === '') return undefined;
  const weight = style.weight ?? 'regular';
  const maxWidth = style.maxWidth ?? Number.POSITIVE_INFINITY;
  const key = `${weight} ${style.size} ${maxWidth} ${text}`;
  const known = runs.get(key);
  if (known) return known;
  const font = getFont(weight);
  const shown = shorten(font, text.slice(0, maxCharacters), { size: style.size, maxWidth });
  const run = layOut(font, shown, style.size);
  if (runs.size >= maxCachedRuns) runs.clear();
  runs.set(key, run);
  return run;
}

export function textWidth(text: string, style: { size: number; weight?: FontWeight | undefined }): number {
  return widthOf(getFont(style.weight ?? 'regular'), text.slice(0, maxCharacters), style.size);
}
