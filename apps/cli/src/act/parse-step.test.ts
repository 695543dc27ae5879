import { expect, test } from 'vitest';

import { parseStep } from './parse-step.ts';

test.each([
  ['tap #12', { type: 'tap', on: 12 }],
  ['tap Add to cart', { type: 'tap', on: 'Add to cart' }],
  ['tap "#12"', { type: 'tap', on: '#12' }],
  ['long-press id:row', { type: 'long_press', on: { hasId: 'row' } }],
  [
    'tap {"isSwitch": true, "rightOf": {"hasText": "Wi-Fi"}}',
    { type: 'tap', on: { isSwitch: true, rightOf: { hasText: 'Wi-Fi' } } },
  ],
  ['type Ada Lovelace into #3', { type: 'type', text: 'Ada Lovelace', on: 3 }],
  ['type "put it into words"', { type: 'type', text: 'put it into words' }],
  ['type "a into b" into id:x', { type: 'type', text: 'a into b', on: { hasId: 'x' } }],
  ['type secret:pin into #4', { type: 'type', secret: 'pin', on: 4 }],
  ['key enter', { type: 'key', key: 'enter' }],
  ['key 4', { type: 'key', key: 4 }],
  ['swipe down in #2', { type: 'swipe', direction: 'down', within: 2 }],
  ['scroll_to Privacy', { type: 'scroll_to', on: 'Privacy' }],
  ['launch com.android.settings', { type: 'launch', package_name: 'com.android.settings' }],
  ['open_link https://a.example/x', { type: 'open_link', url: 'https://a.example/x' }],
  ['wait_for Loading gone 20 s', { type: 'wait_for', on: 'Loading', gone: true, timeout_ms: 20_000 }],
  ['wait-for "Done 5 s"', { type: 'wait_for', on: 'Done 5 s' }],
  ['back', { type: 'back' }],
])('%s', (written, step) => {
  expect(parseStep(written)).toEqual(step);
});

test.each([
  ['touch #3', /no step "touch".*tap, long_press/],
  ['tap', /"tap" is not complete: tap TARGET/],
  ['key nowhere', /key NAME, which is enter/],
  ['tap "Add', /is not closed/],
  ['tap {"isGreen": true}', /is no selector/],
  ['constructor', /no step/],
])('%s is refused', (written, message) => {
  expect(() => parseStep(written)).toThrow(message);
});
