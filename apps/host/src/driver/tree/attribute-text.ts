import { unreadableTree } from './unreadable-tree.ts';

const named: ReadonlyMap<string, string> = new Map([
  ['&amp;', '&'],
  ['&lt;', '<'],
  ['&gt;', '>'],
  ['&quot;', '"'],
  ['&apos;', "'"],
]);

// oxlint-disable-next-line no-control-regex
const forbidden = /[\0-\x08\v\f\x0e-\x1f\uFFFE\uFFFF]/;

/** Whether XML takes all of its characters; what it forbids may not be written as a reference either. */
export const isXmlText = (text: string): boolean => text.isWellFormed() && !forbidden.test(text);

const reference = /&(?:#(\d{1,7});|#x([\da-fA-F]{1,6});|[a-z]{2,4};)?/g;

/** The text that an attribute's value stands for. */
export function attributeText(value: string): string {
  const text = value.replace(reference, characterOf);
  // Older Androids write an emoji as two references to the halves of a surrogate pair: together they are a character.
  if (!isXmlText(text)) throw unreadableTree('it refers to what is no character');
  return text;
}

function characterOf(whole: string, decimal?: string, hexadecimal?: string): string {
  const code = decimal === undefined ? Number.parseInt(hexadecimal ?? '', 16) : Number(decimal);
  const character = code <= 0x10_ff_ff ? String.fromCodePoint(code) : named.get(whole);
  if (character === undefined) throw unreadableTree(`it refers to ${whole}`);
  return character;
}
