import { expect, it } from 'vitest';
import { describeCall } from './records.ts';

it.each([
  [{ name: 'input.tap', x: 5, y: 0 }, 'tap at 5, 0'],
  [{ name: 'input.longPress', x: 5, y: 9 }, 'long press at 5, 9'],
  [{ name: 'input.swipe', x: 1, y: 2, to_x: 3, to_y: 4 }, 'swipe from 1, 2 to 3, 4'],
  [{ name: 'input.text', text_length: 4 }, 'text of 4 characters'],
  [{ name: 'input.key', key: 'ENTER' }, 'key ENTER'],
  [{ name: 'app.launch', package: 'com.shop' }, 'app launch of com.shop'],
  [{ name: 'navigate.back' }, 'navigate back'],
])('%j is said as "%s"', (call, words) => {
  expect(describeCall(call)).toBe(words);
});
