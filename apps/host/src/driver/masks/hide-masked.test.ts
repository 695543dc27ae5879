import type { ScreenMask, UiNode } from '@phalanx/protocol';
import { expect, it } from 'vitest';

import { findNode } from '../find-node.ts';
import { parseTree } from '../tree/parse-tree.ts';
import { hideMasked, isHidden } from './hide-masked.ts';

const screen = { width: 100, height: 200 };
const xml = `<hierarchy rotation="0"><android.widget.FrameLayout package="com.bank" content-desc="all" bounds="[0,0][100,200]">
  <android.widget.LinearLayout resource-id="com.bank:id/card" bounds="[10,10][90,50]">
    <android.widget.TextView text="IBAN AT61" bounds="[10,10][50,30]" />
    <android.widget.TextView text="beside it" bounds="[0,60][50,70]" />
  </android.widget.LinearLayout>
  <android.widget.TextView text="Hello" content-desc="greeting" bounds="[0,150][100,170]" />
</android.widget.FrameLayout></hierarchy>`;

function hide(...masks: ScreenMask[]): { shown: string[]; hidden: number[][] } {
  const { root } = parseTree(xml);
  const hidden = hideMasked(root, masks, screen).map((at) => [at.left, at.top, at.right, at.bottom]);
  const shown: string[] = [];
  const note = ({ text, description }: UiNode): boolean => {
    shown.push(...[text, description].filter((part) => part !== null));
    return false;
  };
  findNode(root, note);
  return { shown, hidden };
}

const rest = ['all', 'Hello', 'greeting'];

it('hides a node with all in it, also what is drawn beside it', () => {
  const card = [
    [10, 10, 90, 50],
    [0, 60, 50, 70],
  ];
  for (const viewId of ['card', 'com.bank:id/card'])
    expect(hide({ viewId })).toEqual({ shown: rest, hidden: card });
});

it.each<[string, ScreenMask, number]>([
  ['a class without its package', { className: 'TextView' }, 3],
  ['a part of the text in another letter case', { textContains: 'iban' }, 1],
  ['the whole text', { text: 'hello' }, 1],
  ['a part of the text, taken for the whole', { text: 'IBAN' }, 0],
  ['the description', { description: 'Greeting' }, 1],
  ['two conditions of which one is not met', { className: 'TextView', text: 'no such' }, 0],
  ['the app', { packageName: 'com.bank' }, 1],
])('knows a node by %s', (_, mask, count) => {
  expect(hide(mask).hidden).toHaveLength(count);
});

it.each([
  'IBAN\u00A0AT61',
  'IBAN\u202FAT61',
  'IBAN\nAT61',
  'IBAN  \tAT61',
  'IB\u00ADAN AT61',
  '\u2066IBAN\u2069 AT61',
  'I\u200BBAN\u200F AT\u206061',
  'ıban at61',
])('knows a text however the app writes it: %j', (text) => {
  const seen = { viewId: null, packageName: 'x', className: null, text, description: null };
  for (const mask of [
    { textContains: 'IBAN AT' },
    { text: 'iban at61' },
    { textContains: '\u2067iban\u00A0at' },
  ])
    expect(isHidden(seen, [mask])).toBe(true);
  const described = { ...seen, text: null, description: `Your ${text}` };
  expect(isHidden(described, [{ descriptionContains: 'iban AT61' }])).toBe(true);
  expect(isHidden(described, [{ textContains: 'iban AT61' }])).toBe(false);
  expect(isHidden({ ...seen, text: `Cafe\u0301 ${text}` }, [{ textContains: 'CAFÉ iban' }])).toBe(true);
});

it('looks for what can not be seen as it is written', () => {
  const seen = { viewId: null, packageName: 'x', className: null, text: 'a\u00A0b', description: null };
  expect(isHidden(seen, [{ textContains: '\u00A0' }])).toBe(true);
  expect(isHidden(seen, [{ textContains: ' ' }])).toBe(false);
  expect(isHidden(seen, [{ descriptionContains: '\u200B' }])).toBe(false);
});

it('takes what may be of an app for its own', () => {
  const seen = {
    viewId: null,
    packageName: undefined,
    className: null,
    text: 'Code 1234',
    description: null,
  };
  expect(isHidden(seen, [{ packageName: 'com.bank' }])).toBe(true);
  expect(isHidden(seen, [{ packageName: 'com.bank', textContains: 'code' }])).toBe(true);
  expect(isHidden(seen, [{ packageName: 'com.bank', textContains: 'balance' }])).toBe(false);
  expect(isHidden(seen, [{ packageName: 'com.bank', viewId: 'balance' }])).toBe(false);
  expect(isHidden(seen, [{ packageName: 'com.bank', parts: new Set(['1234']) }])).toBe(true);
});

it('empties whatever reaches into an area, and leaves the blackening to the picture', () => {
  const area = { left: 0, top: 0.7, right: 0.5, bottom: 0.8 };
  expect(hide({ area })).toEqual({ shown: ['IBAN AT61', 'beside it'], hidden: [] });
});

it('a long part of similar text is looked for as fast as a short one, and what begins like it is hidden', () => {
  const seen = {
    viewId: null,
    packageName: 'x',
    className: 'x',
    text: 'a'.repeat(200_000),
    description: null,
  };
  const leastTime = (part: string): number => {
    const once = (): number => {
      const since = process.cpuUsage();
      expect(isHidden(seen, [{ textContains: part }])).toBe(false);
      const { user, system } = process.cpuUsage(since);
      return user + system;
    };
    return Math.min(...Array.from({ length: 7 }, once));
  };
  expect(leastTime(`ab${'a'.repeat(498)}`) / leastTime(`ab${'a'.repeat(98)}`)).toBeLessThan(15);
  const long = `b${'a'.repeat(499)}`;
  expect(isHidden({ ...seen, text: `… ${long.slice(0, 300)}` }, [{ textContains: long }])).toBe(true);
});
