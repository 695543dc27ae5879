import { expect, it } from 'vitest';

import { parseTree } from '../tree/parse-tree.ts';
import { hideMasked } from './hide-masked.ts';
import { maskOfSecret, showsPart } from './secret-parts.ts';

const shows = (secret: string, text: string | null): boolean => showsPart(text, maskOfSecret('a', secret));

it.each([
  [
    '4000 0012 3456 7899',
    ['4000', 'Card 4 0 0 0', '40-00', '40\u00AD00', '\u202A4\u00A00\u200B00\u202C', 'ends with 7899'],
  ],
  ['Hunter2-of-Alice', ['HUNTER', 'a hunter', 'ter2', 'Hunter2-of-Alic', 'hunter2ofalice']],
  ['word', ['word', 'Password']],
  ['wordy', ['a wordy text']],
  ['pa$$', ['my PA$$']],
])('a part of %s is hidden', (secret, texts) => {
  for (const text of texts) expect(shows(secret, text), text).toBe(true);
});

it.each([
  ['sword-of-words-99', ['Password', 'Forgot your word?', 'of-w', null, '']],
  ['my cat is here', ['What is new', 'Enter it here']],
  ['4000 0012 3456 7899', ['400', 'Card number']],
  ['wordy', ['Password']],
])('labels that have a word of %s are not', (secret, texts) => {
  for (const text of texts) expect(shows(secret, text), String(text)).toBe(false);
});

it('is looked for in whatever a node says', () => {
  const { root } = parseTree(
    '<hierarchy rotation="0"><android.view.View package="a" hint="7899" bounds="[0,0][10,10]" /></hierarchy>',
  );
  expect(
    hideMasked(root, [maskOfSecret('a', '4000 0012 3456 7899')], { width: 10, height: 10 }),
  ).toHaveLength(1);
  expect(root.hintText).toBeNull();
});
