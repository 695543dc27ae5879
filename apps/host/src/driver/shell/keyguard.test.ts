import { expect, it } from 'vitest';
import { isKeyguardShown } from './keyguard.ts';

it.each([
  ['its own state', '    KeyguardServiceDelegate\n      showing=true\n', true],
  [
    'its own state before that of another part',
    '    KeyguardServiceDelegate\n      showing=true\n    CoverPolicy\n      showing=false\n',
    true,
  ],
  [
    'its own state after that of another part',
    '  showing=true\n    KeyguardServiceDelegate\n      showing=false\n',
    false,
  ],
  ['nothing where another part alone tells', '    CoverPolicy\n      showing=false\n', undefined],
  ['nothing where the phone prints nothing', '', undefined],
  [
    'nothing where the title of a window tells it otherwise',
    '  title\n    KeyguardServiceDelegate\n      showing=true\n    KeyguardServiceDelegate\n      showing=false\n',
    undefined,
  ],
  ['nothing of a line that only ends so', '    KeyguardServiceDelegate\n      mIsShowing=true\n', undefined],
])('the lock screen tells %s', (_, printed, expected) => {
  expect(isKeyguardShown(printed)).toBe(expected);
});
