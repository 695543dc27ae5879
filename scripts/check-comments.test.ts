import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { checkComments } from './check-comments.ts';

let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'check-comments-'));
  mkdirSync(join(root, 'bench'));
});

afterEach(() => rmSync(root, { recursive: true }));

function check(name: string, source: string): readonly string[] {
  writeFileSync(join(root, 'bench', name), source);
  return checkComments(root);
}

it.each([
  ['a.ts', '/** Of one user. */\nconst a = 1; // such as 2\n', ['1: Of one user.', '2: such as 2']],
  ['a.ts', '/**\n * What it shows:\n * a name.\n */\n', ['1: What it shows:']],
  ['a.tsx', 'const a = <p>{/* Where it is. */}</p>;\n', ['1: Where it is.']],
  ['a.mjs', '#!/usr/bin/env node\n/* Whoever comes. */\n', ['2: Whoever comes.']],
  ['a.css', '.a {\n  /* As wide as its text. */\n}\n', ['2: As wide as its text.']],
  ['a.sh', '#!/bin/sh\ntrue # When it is late.\n', ['2: When it is late.']],
  [
    'a.ts',
    '// Only here.\nf();\n// Also it.\ng();\n/* It is. */\n',
    ['1: Only here.', '3: Also it.', '5: It is.'],
  ],
])('refuses comments that begin without a verb or a noun: %s, %j', (name, source, refused) => {
  expect(check(name, source)).toEqual(refused.map((line) => `bench/${name}:${line}`));
});

it.each([
  ['a.ts', '// The name of a phone,\n// as people read it.\nconst a = "// What";\n'],
  ['a.ts', '/** Asked again.\n * So it may be late. */\n'],
  ['a.sh', '# The folder\n# of the tools.\necho "a#Where"\n'],
  ['a.css', '/* Asymmetric, whereas others are not: items. */\n'],
])('allows the second lines of a comment, texts, and longer words: %s, %j', (name, source) => {
  expect(check(name, source)).toEqual([]);
});
