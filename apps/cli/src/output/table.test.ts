import stringWidth from 'fast-string-width';
import { expect, test } from 'vitest';

import { formatTable } from './table.ts';

const rows = [
  { device: 'SIM0001', model: '小米 13', reason: 'A sentence that says at length what to do about it.' },
  { device: 'X', model: 'é🦊', reason: 'Short.' },
];

test('columns are aligned whatever width the characters have', () => {
  expect(formatTable({ flexible: 'reason', rows }, undefined)).toEqual([
    'DEVICE   MODEL    REASON',
    'SIM0001  小米 13  A sentence that says at length what to do about it.',
    'X        é🦊      Short.',
  ]);
});

test('one column gives way so that the lines fit the terminal', () => {
  const lines = formatTable({ flexible: 'reason', rows }, 40);
  expect(lines[1]).toBe('SIM0001  小米 13  A sentence that says…');
  expect(Math.max(...lines.map((line) => stringWidth(line)))).toBeLessThanOrEqual(40);
});

test('what would move the cursor or turn the text is shown instead', () => {
  const lines = formatTable({ flexible: 'a', rows: [{ a: '\u001b[2J\r\n\u202ex', b: 'y' }] }, undefined);
  expect(lines[1]).toBe('\\x1b[2J\\x0d\\n\\u202ex  y');
});

test('where the columns do not fit, each row is a paragraph that breaks between words', () => {
  const lines = formatTable({ flexible: 'reason', rows }, 28);
  expect(lines).toEqual([
    'device  SIM0001',
    'model   小米 13',
    'reason  A sentence that says',
    '        at length what to do',
    '        about it.',
    '',
    'device  X',
    'model   é🦊',
    'reason  Short.',
  ]);
});
