import { expect, test } from 'vitest';

import { compactScreen, readCompact } from './compact-screen.ts';

const shown = (...children: object[]): string[] =>
  compactScreen({ width: 1080, height: 2400, tree: { packageName: 'com.shop', root: { children } } });
const row = (...texts: string[]): object => ({
  className: 'android.widget.LinearLayout',
  clickable: true,
  children: texts.map((text) => ({ className: 'android.widget.TextView', text, viewId: 'android:id/title' })),
});

test('what can be read or touched is numbered, and the rest is counted', () => {
  const list = {
    className: 'android.widget.ListView',
    scrollable: true,
    children: [row('Wi-Fi', 'Connected')],
  };
  const toggle = { className: 'android.widget.Switch', checkable: true, checked: true, enabled: false };
  expect(
    shown(
      { className: 'android.widget.TextView', text: 'Settings' },
      list,
      { ...toggle, viewId: 'com.shop:id/sync' },
      { className: 'android.view.View', visible: false, clickable: true },
    ),
  ).toEqual([
    'app "com.shop", 1080×2400',
    '1 text "Settings"',
    '2 list scroll',
    '  3 item "Wi-Fi · Connected"',
    '4 switch #sync on disabled',
    'left out: 1 nodes without a text of their own or a touch, 1 not visible',
  ]);
});

test('the text of a password field is left out, also when an app tells it', () => {
  const field = { className: 'android.widget.EditText', viewId: 'a:id/pin', password: true, text: '1234' };
  expect(shown({ ...field, description: '1234' })[1]).toBe('1 field #pin password');
  expect(shown({ ...field, hintText: 'PIN' })[1]).toBe('1 field "PIN" #pin password');
});

test('a text of a phone makes no line of its own, and turns no other around', () => {
  const [, line, end] = shown({ text: 'a\n9 button "Pay"\u202E\u2028b', viewId: 'x:id/a b\n7 c' });
  expect(line).toBe(String.raw`1 item "a 9 button \"Pay\" b" #"a b 7 c"`);
  expect(end).toMatch(/^left out/);
  expect(shown({ text: 'IB\u202DAN \u2066AT61\u2069' })[1]).toBe('1 item "IBAN AT61"');
});

test('a line has the texts that it is looked for by as the phone tells them, and none of a password field', () => {
  const tab = { clickable: true, description: 'Home\nTab 1 of 3' };
  const title = { text: 'Title\u00A0'.repeat(20), description: 'Heading' };
  const field = { className: 'android.widget.EditText', password: true, text: '1234', hintText: 'PIN' };
  const root = { children: [tab, { clickable: true, children: [title] }, field] };
  const { lines } = readCompact({ width: 1, height: 1, tree: { packageName: '', root } });
  expect(lines.map(({ said }) => said)).toEqual([[tab.description], [title.text, 'Heading'], ['PIN']]);
});

test('long texts are cut, equal ones joined, and lines beyond 200 counted', () => {
  expect(shown({ text: '😀'.repeat(90) })[1]).toBe(`1 item "${'😀'.repeat(79)}…"`);
  expect(shown(row('Same', 'Same', 'b', 'c', 'd', 'e', 'f'))[1]).toBe(
    '1 item "Same · b · c · d · e" (1 more texts)',
  );
  const many = shown(...Array.from({ length: 250 }, (_, index) => ({ text: `row ${index}` })));
  expect([many.length, many.at(-1)]).toEqual([202, expect.stringMatching(/, 50 beyond 200 lines$/)]);
});

test('any JSON is a screen', () => {
  for (const root of [null, 3, [], { children: [null, 'x', { children: 7, text: 5 }] }])
    expect(compactScreen({ width: 1, height: 1, tree: { packageName: '', root } })).toHaveLength(2);
});
