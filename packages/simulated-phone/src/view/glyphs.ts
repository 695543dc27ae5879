import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import opentype from 'opentype.js';

export type FontWeight = 'regular' | 'medium';

const fontFiles: Record<FontWeight, string> = {
  regular: '@expo-google-fonts/roboto/400Regular/Roboto_400Regular.ttf',
  medium: '@expo-google-fonts/roboto/500Medium/Roboto_500Medium.ttf',
};

export interface GlyphRun {
  /** SVG path data with the baseline's start at 0,0. */
  readonly path: string;
  readonly width: number;
}

/** Shared by all phones of the process; the text of screens repeats, so few entries do. */
const maxCachedRuns = 5000;

/** No line of a phone's screen holds more. */
const maxCharacters = 300;

const runs = new Map<string, GlyphRun>();
const fonts = new Map<FontWeight, opentype.Font>();

/** Read on first use: a phone nobody looks at needs no font. */
function getFont(weight: FontWeight): opentype.Font {
  const known = fonts.get(weight);
  if (known) return known;
  const bytes = readFileSync(createRequire(import.meta.url).resolve(fontFiles[weight]));
  const font = opentype.parse(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength));
  fonts.set(weight, font);
  return font;
}

const round = (value: number) => String(Math.round(value * 10) / 10);

/** SVG path data. The library's own leaves out the blank before a number that rounds to minus zero. */
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

/** Glyphs one by one: the library's own shaping stops at a substitution that this font holds. */
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

/** The outlines of one line of text; undefined for an empty one. */
export function findGlyphRun(
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
