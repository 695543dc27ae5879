import { expect, it } from 'vitest';

import { mayBeLossy } from './lossy-text.ts';

it.each([
  'A?B',
  'A.B',
  'A\0B',
  'half ? end',
  'half . end',
  'none \uFFFE',
  'cut \uD83D',
  'Paid 😀',
  'Paid ..',
  'Paid..',
  'Paid ....',
  '.. Done',
  '? Done',
  'Done??',
  'tab\u000B',
  'C1 \u009F',
  'unknown \uFFFD',
  'Row.1',
])('%j may be told otherwise by another way', (text) => expect(mayBeLossy(text)).toBe(true));

it.each([
  'Forgot password?',
  'Done.',
  'Loading...',
  'No. 5',
  'Version 2.0',
  'Really?!',
  'Wi-Fi',
  '設定',
  '…',
])('%j is told by all ways', (text) => expect(mayBeLossy(text)).toBe(false));
