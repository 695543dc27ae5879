import { expect, test } from 'vitest';

import { plainLine, plainText } from './plain-text.ts';

test.each([
  [
    'Use `agent.actions.tap` or [the reference](reference.md#a-call).',
    'Use agent.actions.tap or the reference.',
  ],
  ['> 409: The **phone** is `leased`.\n\nWait.', '409: The phone is leased. Wait.'],
  ['- one\n- two\n\n```sh\nphalanx start\n```', 'one two phalanx start'],
  ['| a | `b` |\n| - | --- |\n| 1 | 2 |', 'a b 1 2'],
])('reads %j as a line without marks', (markdown, text) => expect(plainText(markdown)).toBe(text));

test('a title keeps its number, which its anchor has too', () =>
  expect(plainLine('1. The global `agent`')).toBe('1. The global agent'));
