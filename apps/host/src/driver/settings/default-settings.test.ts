import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { type DefaultSettings, loadDefaultSettings } from './default-settings.ts';

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'phalanx-settings-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function load(text: string): Promise<DefaultSettings> {
  const file = join(folder, 'settings.json');
  await writeFile(file, text);
  return loadDefaultSettings(file);
}

describe('the file of settings of phones', () => {
  it('is for all phones and for single ones, and what a run wants goes before it', async () => {
    const defaults = await load(
      JSON.stringify({
        '*': { brightness: 0, locale: { 'com.example.shop': 'de' } },
        A: { time_zone: 'Asia/Tokyo', locale: { 'com.example.mail': 'ja' } },
      }),
    );
    expect(defaults.complete('B')).toEqual({ brightness: 0, locale: { 'com.example.shop': 'de' } });
    expect(defaults.complete('A', { brightness: 9, locale: { 'com.example.shop': 'fr' } })).toEqual({
      brightness: 9,
      time_zone: 'Asia/Tokyo',
      locale: { 'com.example.shop': 'fr', 'com.example.mail': 'ja' },
    });
  });

  it.each([
    ['{', 'is no JSON'],
    ['{"*":{"brightness":300}}', '*.brightness must be at most 255'],
    ['{"A":{"timezone":"UTC"}}', 'A.timezone is not known: the fields there are http_proxy, time_zone'],
  ])('%s is refused with where it is wrong', async (text, part) => {
    await expect(load(text)).rejects.toThrow(part);
  });
});
