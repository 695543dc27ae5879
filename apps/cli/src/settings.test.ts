import { readFile } from 'node:fs/promises';

import { hostSettings } from '@phalanx/host/config';
import { serverSettings } from '@phalanx/server/config';
import { describeSetting, type Setting, shownDefault } from '@phalanx/settings';
import { Command } from 'commander';
import { describe, expect, test } from 'vitest';

import { addSettingFlags } from './settings.ts';

const reference = await readFile(new URL('../../../docs/settings.md', import.meta.url), 'utf8');

describe('the reference', () => {
  test.each([
    ['server', serverSettings],
    ['host', hostSettings],
  ])('has the settings of the %s as the program has them', (_program, rows) => {
    expect(reference.replaceAll(/ {2,}/g, ' ')).toContain(rows.map(tableRow).join('\n'));
  });
});

test('an option has the whole name of its setting, without the beginning that nearly all have', () => {
  const rows = [...serverSettings, ...hostSettings];
  const { options } = addSettingFlags(new Command(), rows);
  const words = new Set(rows.map(({ name }) => name.replace(/^PHALANX_/, '').toLowerCase()));
  expect(new Set(options.map(({ long }) => (long ?? '').slice(2).replaceAll('-', '_')))).toEqual(words);
  expect(options.map(({ long }) => long)).toContain('--scrcpy-server-path');
});

/** Returns a row of the table, without the padding of columns that the formatter adds. */
function tableRow(row: Setting): string {
  const fallback = row.defaultText ?? (shownDefault(row) && `\`${shownDefault(row)}\``);
  return `| \`${row.name}\` | ${fallback} | ${describeSetting(row)} |`.replaceAll(/ {2,}/g, ' ');
}
