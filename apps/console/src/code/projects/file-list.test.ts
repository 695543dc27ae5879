import { expect, it } from 'vitest';

import { fileRows } from './file-list.tsx';

const none = { toggled: new Set<string>(), current: undefined };
const namesOf = (rows: ReturnType<typeof fileRows>): string[] =>
  rows.map(({ name, depth }) => `${'  '.repeat(depth)}${name}`);

it('has folders before files, and files in their folders', () => {
  const rows = fileRows(['main.ts', 'lib/b/c.ts', 'lib/a10.ts', 'lib/a2.ts', 'AGENTS.md'], none);
  expect(namesOf(rows)).toEqual(['lib', '  b', '    c.ts', '  a2.ts', '  a10.ts', 'AGENTS.md', 'main.ts']);
});

it('leaves out what is in a closed folder', () => {
  const paths = ['main.ts', 'lib/b/c.ts', 'lib/a.ts'];
  expect(namesOf(fileRows(paths, { ...none, toggled: new Set(['lib/']) }))).toEqual(['lib', 'main.ts']);
});

it('closes the folders of a large project, but for those around the current file', () => {
  const paths = Array.from({ length: 5000 }, (_, index) => `f${index % 50}/g/${index}.ts`);
  expect(fileRows(paths, none)).toHaveLength(50);
  const rows = fileRows(paths, { ...none, current: 'f7/g/107.ts' });
  expect(rows.filter(({ isOpen }) => isOpen).map(({ path }) => path)).toEqual(['f7/', 'f7/g/']);
  expect(rows).toHaveLength(151);
});
