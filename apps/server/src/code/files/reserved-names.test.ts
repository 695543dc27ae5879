import { expect, it } from 'vitest';

import { findReservedReason } from './file-path.ts';

it.each(['.git', '.git...', '.git . .', '.GIT:x', 'git~1 '])('%j leads into .git', (name) => {
  expect(findReservedReason(name)).toContain('.git');
});

it('takes a time that grows with the name, not with its square', { timeout: 5000 }, () => {
  expect(findReservedReason(`${'.'.repeat(200_000)}x`)).toBeUndefined();
});
