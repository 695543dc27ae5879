import { expect, it } from 'vitest';

import { withName } from './code-navigation.tsx';

it('changes every place, in whatever order they come', () => {
  const text = 'const ab = 1;\nuse(ab);\n';
  const places = [
    { start: 18, end: 20 },
    { start: 6, end: 8 },
  ];
  expect(withName(text, places, 'total')).toBe('const total = 1;\nuse(total);\n');
});
