import { expect, test } from 'vitest';

import { turnsOfOthers } from '../../../kernel/limits/testing/turns-of-others.ts';
import { entrySeparator } from '../log-batch.ts';
import { type PageQuery, RunLogPage } from './run-log-page.ts';

const all: PageQuery = { from: '', levels: null, search: '', limit: 1000 };
const idOf = (at: number): string => `01900000-0000-7000-8000-${at.toString(16).padStart(12, '0')}`;
const entry = (at: number, message: string): string =>
  JSON.stringify({ id: idOf(at), run_id: idOf(0), automationId: 'a', message, timestamp: at });
const textOf = (messages: readonly string[], first = 1): string =>
  messages.map((message, index) => entry(first + index, message)).join(entrySeparator);

const found = (page: RunLogPage): string[] =>
  (JSON.parse(page.body(false)) as { logs: { message: string }[] }).logs.map(({ message }) => message);

test.each([
  ['needle', ['a NEEDLE', 'hay', 'needles']],
  ['"quoted"', ['some "Quoted" text', 'hay']],
  ['line\nbreak', ['a line\nbreak', 'hay']],
  ['ὈΔΟΣ', ['ὀδος', 'hay']],
])('finds %j wherever it stands, in either letter case', async (search, messages) => {
  const page = new RunLogPage({ ...all, search }, 'logs');
  await page.offerAll(textOf(messages));
  expect(found(page)).toEqual(messages.filter((message) => message !== 'hay'));
});

test('goes on behind entries without the text, as if each had been looked at', async () => {
  const page = new RunLogPage({ ...all, search: 'needle' }, 'logs');
  await page.offerAll(textOf(['hay', 'straw']));
  expect(page.after).toBe(idOf(2));
  // Entries that were examined before are skipped.
  await page.offerAll(textOf(['needle one', 'needle two', 'needle three']));
  expect(found(page)).toEqual(['needle three']);
});

test('a reply looks through so much and no more', async () => {
  const page = new RunLogPage({ ...all, search: 'needle' }, 'logs');
  const hay = 'x'.repeat(60_000);
  let at = 1;
  for (; !page.isFull && at < 10_000; at += 10) await page.offerAll(textOf(Array(10).fill(hay), at));
  expect(page.isFull).toBe(true);
  expect(at * hay.length).toBeLessThan(17 * 1024 * 1024);
});

test('others have their turns while much is looked through', async () => {
  const page = new RunLogPage({ ...all, search: '"no such text"' }, 'logs');
  const text = textOf(Array.from({ length: 200_000 }, (_, index) => `line ${index}`));
  expect(await turnsOfOthers(() => page.offerAll(text))).toBeGreaterThan(3);
});
