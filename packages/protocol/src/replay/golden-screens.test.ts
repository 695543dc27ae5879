import { expect, test } from 'vitest';

import { goldenText, parseGolden, type GoldenScreen } from './golden-screens.ts';
import type { UiNode } from '../phones/phone-answers.ts';

function node(values: Partial<UiNode>, ...children: UiNode[]): UiNode {
  return {
    className: 'android.widget.TextView',
    packageName: 'com.shop',
    viewId: null,
    text: null,
    description: null,
    hintText: null,
    tooltipText: null,
    paneTitle: null,
    containerTitle: null,
    index: 0,
    boundsInScreen: { left: 0, top: 0, right: 10, bottom: 20 },
    maxTextLength: -1,
    inputType: '',
    isShowingHintText: false,
    checkable: false,
    checked: false,
    clickable: false,
    enabled: true,
    focusable: false,
    focused: false,
    longClickable: false,
    password: false,
    scrollable: false,
    selected: false,
    visible: true,
    ...values,
    children,
  };
}

const golden: GoldenScreen = {
  expect: { state: 'Cart', stage: 'pay', handled: true },
  from: { device: 'google Pixel 8' },
  tree: {
    root: node(
      {},
      node({ text: '"Pay"\nnow', viewId: 'com.shop:id/pay', clickable: true }),
      node({ index: 3, enabled: false, packageName: 'android' }, node({ packageName: 'android', text: '' })),
    ),
    packageName: 'com.shop',
    rotation: 1,
    capturedAt: 1,
    source: 'dump',
  },
};

const textWith = (tree: string, expected = '{"state":"A"}'): string =>
  `{"version":1,"expect":${expected},"screen":{"packageName":"a","rotation":0,"capturedAt":0},"tree":${tree}}`;

test('a golden screen is read as it was written, and each node has a line', () => {
  const text = goldenText(golden);
  expect(parseGolden(text)).toEqual(golden);
  expect(text.split('\n').filter((line) => line.includes('"bounds"'))).toHaveLength(4);
  expect(text).toContain('  {"className":"android.widget.TextView","text":"","bounds":[0,0,10,20]}');
});

test.for<[text: string, problem: string]>([
  ['{', 'is not JSON'],
  ['[]', 'must be an object'],
  ['{"version":2}', 'another version'],
  [textWith('{"bounds":[0,0,1,1]}', '{}'), 'expects neither'],
  [textWith('{"bounds":[0,0,1,1]}', '{"sate":"A"}'), 'expects "sate"'],
  [textWith('{"bounds":[0,0,1]}'), '"bounds" are not'],
  [textWith('{"bounds":[0,0,1,1],"txet":"A"}'), 'unknown property "txet"'],
  [textWith('{"bounds":[0,0,1,1],"__proto__":1}'), 'unknown property'],
  [textWith('{"bounds":[0,0,1,1],"text":1}'), '"text" is 1'],
  [textWith('{"bounds":[0,0,1,1],"password":true,"text":"secret"}'), 'shows a password'],
  [textWith(`${'{"bounds":[0,0,1,1],"children":['.repeat(401)}${']}'.repeat(401)}`), 'in one another'],
  [
    textWith(`{"bounds":[0,0,1,1],"children":[${Array(20_000).fill('{"bounds":[0,0,1,1]}').join()}]}`),
    'more than 20000 nodes',
  ],
  ['x'.repeat(1024 * 1024 + 1), 'is larger than'],
])('what is no golden screen is said: %#', ([text, problem]) => {
  expect(() => parseGolden(text)).toThrow(problem);
});
