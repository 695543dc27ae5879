import { expect, test } from 'vitest';

import { numberChanges, numberScreen } from './compact-diff.ts';
import { type CompactScreen, readCompact } from './compact-screen.ts';
import { findAgain } from './node-identity.ts';

const shown = (...children: object[]): CompactScreen =>
  readCompact({ width: 1080, height: 2400, tree: { packageName: 'com.shop', root: { children } } });
const text = (words: string): object => ({ className: 'android.widget.TextView', text: words });
const button = (words: string, more: object = {}): object => ({
  className: 'android.widget.Button',
  text: words,
  clickable: true,
  ...more,
});
const group = (...children: object[]): object => ({ className: 'android.widget.LinearLayout', children });
const list = (...children: object[]): object => ({
  className: 'android.widget.ListView',
  scrollable: true,
  children,
});
const article = (name: string): object => group(text(name), button('Add'));
const articles = (...names: string[]): CompactScreen => shown(text('Shop'), list(...names.map(article)));

/** Returns the line of the second screen that a touch on the given line of the first would hit. */
function again(before: CompactScreen, index: number, now: CompactScreen): unknown {
  const line = before.lines[index];
  if (line === undefined) throw new Error('no such line');
  const found = findAgain(line.identity, now.lines);
  return 'line' in found ? [found.kind, now.lines.indexOf(found.line)] : found.kind;
}

test('a button of a row is the one beside the same words, wherever the row is now', () => {
  const before = articles('Milk', 'Bread', 'Salt');
  // Lines: 0 Shop, 1 list, 2 Milk, 3 Add, 4 Bread, 5 Add, 6 Salt, 7 Add
  expect(again(before, 5, articles('Sugar', 'Milk', 'Bread'))).toEqual(['same', 7]);
  expect(again(before, 3, articles('Bread', 'Salt', 'Sugar'))).toBe('gone');
});

test('equal rows are told apart by their neighbours, or by a screen that has not changed', () => {
  const before = articles('Milk', 'Tea', 'Tea', 'Salt');
  expect(again(before, 4, articles('Sugar', 'Milk', 'Tea', 'Tea', 'Salt'))).toEqual(['same', 6]);
  expect(again(before, 6, articles('Tea', 'Milk', 'Tea', 'Salt'))).toBe('several');
  expect(again(before, 4, articles('Tea', 'Salt'))).toBe('several');
  const equal = articles('Tea', 'Tea', 'Tea', 'Tea', 'Tea');
  expect(again(equal, 6, equal)).toEqual(['same', 6]);
  expect(again(equal, 6, articles('Milk', 'Tea', 'Tea', 'Tea', 'Tea', 'Tea'))).toBe('several');
});

test('a button of a dialog is not that of another dialog, and a page is told by its title', () => {
  const dialog = (words: string): CompactScreen =>
    shown(group(text(words), group(button('Cancel'), button('OK'))));
  expect(again(dialog('Delete the draft?'), 2, dialog('Pay 100 €?'))).toBe('gone');
  expect(again(dialog('Delete the draft?'), 2, dialog('Delete the draft?'))).toEqual(['same', 2]);
  const page = (title: string, ...names: string[]): CompactScreen =>
    shown(text(title), list(...names.map((name) => text(name))), button('Save'));
  expect(again(page('Milk', 'a', 'b'), 4, page('Milk', 'b', 'c'))).toEqual(['same', 4]);
  expect(again(page('Milk', 'a', 'b'), 4, page('Bread', 'a', 'b'))).toBe('gone');
});

test('a clock beside a button is no reason not to find it, and a switch that was switched is told as such', () => {
  const at = (time: string): CompactScreen => shown(group(text(time), text('Alarm'), button('Stop')));
  expect(again(at('07:00'), 2, at('07:01'))).toEqual(['same', 2]);
  const wifi = (checked: boolean): CompactScreen =>
    shown({ className: 'android.widget.Switch', checkable: true, checked, description: 'Wi-Fi' });
  expect(again(wifi(true), 0, wifi(false))).toEqual(['switched', 0]);
});

test('a field is the same whatever is typed into it', () => {
  const field = (words: string): CompactScreen =>
    shown({ className: 'android.widget.EditText', hintText: 'Name', viewId: 'a:id/name', text: words });
  expect(again(field(''), 0, field('Ada'))).toEqual(['same', 0]);
});

test('a diff tells what came, went and changed, and keeps the numbers of what is the same', () => {
  const before = articles('Milk', 'Bread', 'Salt', 'Tea');
  const told = numberScreen(before);
  const now = articles('Bread', 'Salt', 'Tea', 'Sugar');
  const changes = numberChanges(told.screen, now);
  expect([changes.view, changes.lines]).toEqual([
    'diff',
    ['- 3 4', '+ 11 text "Sugar"', '+ 12 button "Add"'],
  ]);
  expect(numberChanges(changes.screen, now).lines).toEqual(['nothing has changed']);
  expect(changes.screen.lines.map(({ number }) => number)).toEqual([1, 2, 5, 6, 7, 8, 9, 10, 11, 12]);
});

test('a state that changed keeps its number, and another screen is told as a whole', () => {
  const wifi = (checked: boolean): CompactScreen =>
    shown(text('Settings'), { className: 'android.widget.Switch', checkable: true, checked });
  const told = numberScreen(wifi(true));
  expect(numberChanges(told.screen, wifi(false)).lines).toEqual(['~ 2 switch off']);
  const other = numberChanges(told.screen, articles('Milk', 'Bread', 'Salt', 'Tea'));
  expect([other.view, other.lines[0]]).toEqual(['compact', 'app "com.shop", 1080×2400']);
});
