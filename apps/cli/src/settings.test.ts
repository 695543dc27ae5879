import { readFile } from 'node:fs/promises';

import { hostSettings } from '@phalanx/host/config';
import { serverSettings } from '@phalanx/server/config';
import { describeSetting, type Setting, shownDefault } from '@phalanx/settings';
import { describe, expect, test } from 'vitest';

const reference = await readFile(new URL('../../../docs/reference.md', import.meta.url), 'utf8');

describe('the reference', () => {
  test.each([
    ['server', serverSettings],
    ['host', hostSettings],
  ])('has the settings of the %s as the program has them', (_program, rows) => {
    expect(reference.replaceAll(/ {2,}/g, ' ')).toContain(rows.map(tableRow).join('\n'));
  });
});

/** A row of the table; what pads the columns is left to the formatter. */
function tableRow(row: Setting): string {
  const fallback = row.defaultText ?? (shownDefault(row) && `\`${shownDefault(row)}\``);
  return `| \`${row.name}\` | ${fallback} | ${describeSetting(row)} |`.replaceAll(/ {2,}/g, ' ');
}
