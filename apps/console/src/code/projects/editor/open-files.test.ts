import { expect, it } from 'vitest';

import { nextOpen, withOpened } from './open-files.tsx';

it('opens a file once, behind the others', () => {
  const paths = ['a.ts', 'b.ts'];
  expect(withOpened(paths, 'a.ts')).toBe(paths);
  expect(withOpened(paths, undefined)).toBe(paths);
  expect(withOpened(paths, 'c.ts')).toEqual(['a.ts', 'b.ts', 'c.ts']);
});

it('closes the file that was opened first when there are too many', () => {
  const paths = Array.from({ length: 20 }, (_, index) => `${index}.ts`);
  expect(withOpened(paths, 'new.ts')).toEqual([...paths.slice(1), 'new.ts']);
});

it('shows the neighbour of a closed file', () => {
  expect(nextOpen(['a', 'b', 'c'], 'b')).toBe('c');
  expect(nextOpen(['a', 'b', 'c'], 'c')).toBe('b');
  expect(nextOpen(['a'], 'a')).toBe(undefined);
});
