import { readCompact, type ScreenTree } from '@phalanx/protocol';
import { expect, it } from 'vitest';

import { parseTree } from '../../../driver/tree/parse-tree.ts';
import { ActRefused, findTarget } from './find-target.ts';
import type { Look } from './phone-look.ts';

interface Shown {
  readonly text?: string;
  readonly description?: string;
  readonly isClickable?: boolean;
}

const written = (text: string): string =>
  text.replaceAll(/[^ -~]|["&<]/gu, (one) => `&#${one.codePointAt(0) ?? 0};`);

function look(...nodes: readonly Shown[]): Look {
  const views = nodes.map(({ text = '', description = '', isClickable = true }, row) => {
    const bounds = `[0,${row * 100}][100,${row * 100 + 100}]`;
    return `<node class="android.view.View" text="${written(text)}" content-desc="${written(description)}" clickable="${isClickable}" bounds="${bounds}" />`;
  });
  const tree: ScreenTree = {
    ...parseTree(
      `<hierarchy rotation="0"><node bounds="[0,0][100,900]">${views.join('')}</node></hierarchy>`,
    ),
    capturedAt: 0,
    source: 'dump',
  };
  const size = { width: 100, height: 900 };
  return { tree, size, compact: readCompact({ ...size, tree }), digest: undefined };
}

const topOf = (shown: Look, target: Parameters<typeof findTarget>[1]): number =>
  findTarget(shown, target).node.boundsInScreen.top / 100;

function refusal(shown: Look, target: Parameters<typeof findTarget>[1]): ActRefused {
  try {
    findTarget(shown, target);
  } catch (error) {
    if (error instanceof ActRefused) return error;
  }
  throw new Error('It was found.');
}

it('a text means the node whose text fits best', () => {
  const tabs = ['Homework', 'Home address\nTap to change', 'Home\nTab 1 of 3', 'Search\nTab 2 of 3'];
  const shown = look(...tabs.map((description) => ({ description })));
  expect(topOf(shown, 'Home')).toBe(2);
  expect(topOf(shown, 'Home Tab 1 of 3')).toBe(2);
  expect(topOf(shown, 'homework')).toBe(0);
  expect(topOf(shown, { hasDescription: 'Home Tab 1 of 3' })).toBe(2);
  expect(refusal(shown, 'Tab')).toMatchObject({ refusal: 'several' });
});

it('a text is found however the app writes it, in text and in description, whole and long', () => {
  const shown = look(
    { text: 'Pay\u00A0now' },
    { text: 'x', description: '\u2066Pay\u2069 la\u00ADter' },
    { text: `${'A long text '.repeat(20)}ends` },
  );
  for (const wanted of ['Pay now', 'pay\u202Fnow']) expect(topOf(shown, wanted)).toBe(0);
  for (const wanted of ['Pay later', { hasDescription: 'Pay later' }]) expect(topOf(shown, wanted)).toBe(1);
  expect(topOf(shown, `${'A long text '.repeat(12)}A`)).toBe(2);
  expect(topOf(shown, 'A long text A long…')).toBe(2);
});

it('of equal texts that what can be touched is meant, and several are refused', () => {
  expect(topOf(look({ text: 'Pay', isClickable: false }, { text: 'Pay' }), 'Pay')).toBe(1);
  expect(refusal(look({ text: 'PAY' }, { text: 'pay' }), 'Pay')).toMatchObject({ candidates: [0, 1] });
  expect(topOf(look({ text: 'PAY' }, { text: 'Pay' }), 'Pay')).toBe(1);
});

it('a refusal names what comes nearest, and the character that differs', () => {
  const shown = look({ text: 'Settings' }, { text: 'P\u0430y' });
  for (const target of ['Pay', { hasText: 'Pay' }, { isSwitch: true, rightOf: { hasText: 'Pay' } }] as const)
    expect(refusal(shown, target).message).toMatch(
      /is not on the screen; nearest are "P\u0430y", "Settings": "P\u0430y" has U\+0430 as character 2 where U\+0061 is looked for$/,
    );
  expect(refusal(shown, { isSwitch: true }).message).toMatch(/is not on the screen$/);
  expect(refusal(look({ text: '\u0430\u00A0'.repeat(500) }), 'Pay').message.length).toBeLessThan(2000);
});
