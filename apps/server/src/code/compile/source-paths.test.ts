import { expect, test } from 'vitest';

import { findModule, findImportedPath, findCompiledPath, listSourcePaths } from './source-paths.ts';

test.for([
  ['main.ts', 'main.js'],
  ['a/b.tsx', 'a/b.js'],
  ['a.mts', 'a.mjs'],
  ['a.cts', 'a.cjs'],
  ['a.test.ts', 'a.test.js'],
  ['a.d.ts', undefined],
  ['a.d.mts', undefined],
  ['a.d.json.ts', undefined],
  ['a.js', undefined],
  ['ts', undefined],
  ['a.ts/b', undefined],
] as const)('%s is compiled to %s', ([path, compiled]) => {
  expect(findCompiledPath(path)).toBe(compiled);
});

test.for([
  ['a.js', ['a.tsx', 'a.ts']],
  ['a.mjs', ['a.mts']],
  ['a.json', []],
] as const)('%s may come of %s', ([path, sources]) => {
  expect(listSourcePaths(path)).toEqual(sources);
});

test.for([
  ['main.ts', './a', 'a'],
  ['x/y/main.ts', '../a.js', 'x/a.js'],
  ['x/main.ts', '..', '.'],
  ['main.ts', '../a', undefined],
  ['x/main.ts', '../../etc/passwd', undefined],
] as const)('in %s the import of %s names %s', ([importer, specifier, path]) => {
  expect(findImportedPath(importer, specifier)).toBe(path);
});

test.for([
  ['a', ['a.js', 'a.ts'], 'a.ts'],
  ['a.js', ['a.js', 'a.ts'], 'a.ts'],
  ['a.mjs', ['a.mts'], 'a.mts'],
  ['a', ['a/index.tsx'], 'a/index.tsx'],
  ['.', ['index.ts'], 'index.ts'],
  ['a', ['a.d.ts', 'a.js'], 'a.js'],
  ['a.json', ['a.json'], 'a.json'],
  ['a', ['b.ts'], undefined],
] as const)('%s among %s is %s', ([path, files, found]) => {
  expect(findModule(path, (file) => files.some((name) => name === file))).toBe(found);
});
