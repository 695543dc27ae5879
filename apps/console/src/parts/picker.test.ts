import { expect, it } from 'vitest';

import { findMatches } from './picker.tsx';

const paths = ['main.ts', 'flows/login.ts', 'flows/logout.ts', 'lib/index.ts', 'login/main.ts'];

it('prefers the name of a file to its folder, and the shorter path', () => {
  expect(findMatches(paths, 'login', 9)).toEqual(['flows/login.ts', 'login/main.ts']);
  expect(findMatches(paths, 'main', 9)).toEqual(['main.ts', 'login/main.ts']);
});

it('finds letters in their order, and nothing where one is missing', () => {
  expect(findMatches(paths, 'flgn', 9)).toEqual(['flows/login.ts']);
  expect(findMatches(paths, 'xyz', 9)).toEqual([]);
  expect(findMatches(paths, '', 2)).toHaveLength(2);
});
