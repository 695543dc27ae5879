import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { goldenText, parseGolden, type GoldenScreen } from '@phalanx/protocol';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { proveScreen, type ProvedScreen } from './keep-screen.ts';
import { GoldenReplay } from './replay-golden.ts';

let root: string;
beforeAll(async () => {
  root = await mkdtemp(path.join(tmpdir(), 'phalanx-prove-'));
});
afterAll(() => rm(root, { recursive: true }));

const form = (): GoldenScreen =>
  parseGolden(`{"version":1,"expect":{"state":"Form","stage":"sign up"},
"screen":{"packageName":"com.shop","rotation":0,"capturedAt":1},
"tree":{"className":"android.widget.FrameLayout","packageName":"com.shop","bounds":[0,0,1080,2400],"children":[
{"className":"android.widget.EditText","viewId":"com.shop:id/name","text":"Ada Lovelace","bounds":[0,0,100,50]},
{"className":"android.widget.EditText","viewId":"com.shop:id/city","text":"London","bounds":[0,60,100,90]}]}}`);

/** Proves a screen with code whose state `Form` matches `sign`. */
async function keep(sign: string, golden = form()): Promise<ProvedScreen & { text: string }> {
  const code = `await runStages({ states: { Form: ${sign} }, stages: [{ name: 'sign up', reached: 'Form', on: {} }] });`;
  await writeFile(path.join(root, 'main.ts'), code);
  const replay = await GoldenReplay.open({ root, paths: ['main.ts'] });
  const proved = await proveScreen(golden, async (one) => (await replay.replay([one]))[0]?.verdict);
  return { ...proved, text: goldenText(proved.kept) };
}

test('typed text that the code does not need is not kept', async () => {
  const { text, ...proved } = await keep(`{ id: 'name' }`);
  expect(proved).toMatchObject({ needed: [], isOther: false, verdict: { state: 'Form' } });
  expect(text).toContain('"Xxx Xxxxxxxx"');
  expect(text).not.toMatch(/Ada|London/);
});

test('typed text that the verdict needs is kept, and no other', async () => {
  const { text, ...proved } = await keep(`(screen) => screen.findById('name')?.text === 'Ada Lovelace'`);
  expect(proved).toMatchObject({ needed: ['Ada Lovelace'], isOther: false, verdict: { state: 'Form' } });
  expect(text).toContain('"Ada Lovelace"');
  expect(text).not.toContain('London');
});

test('where the code goes by what no file has, typed text stays out, and what the file is taken for is told', async () => {
  const golden = form();
  const [name] = golden.tree.root.children;
  if (name !== undefined) name.password = true;
  const { text, ...proved } = await keep(
    `(screen) => screen.findById('name')?.text === 'Ada Lovelace'`,
    golden,
  );
  expect(proved).toMatchObject({ needed: [], isOther: true, verdict: { state: 'unknown' } });
  expect(text).not.toMatch(/Ada|London/);
});
