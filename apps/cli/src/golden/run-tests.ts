import { writeFile } from 'node:fs/promises';
import { goldenText, isHandled, type GoldenScreen } from '@phalanx/protocol';
import type { ReplayedScreen } from '@phalanx/host/replays';

import { CommandError, exitCodes, usageError } from '../exit-codes.ts';
import { junitReport, type JunitCase } from '../output/junit.ts';
import { notice } from '../output/notice.ts';
import { printable } from '../output/printable.ts';
import { printJson } from '../output/table.ts';
import { listLocalFiles } from '../project/list-local-files.ts';
import { writeBelow } from '../project/write-own-file.ts';
import { readGoldenFiles, type GoldenFile } from './golden-files.ts';
import { judge, type Failure } from './judge.ts';
import { GoldenReplay } from './replay-golden.ts';

export interface TestOptions {
  filter?: string;
  junit?: string;
  json?: true;
  update?: true;
}

interface Tested extends GoldenFile {
  replayed: ReplayedScreen;
  failure: Failure | undefined;
}

/** Replays the golden screens of a folder and prints how that went. Throws a CommandError unless all are as expected. */
export async function runTests(root: string, options: TestOptions): Promise<void> {
  const startedAt = performance.now();
  const { paths } = await listLocalFiles(root, []);
  const files = chosen(await readGoldenFiles(root, paths), options.filter);
  const replay = await GoldenReplay.open({ root, paths });
  const tested = await testAll(replay, files);
  const updated = options.update ? await updateAll(root, tested) : [];
  const failed = tested.filter((one) => one.failure !== undefined && !updated.includes(one));
  if (options.junit !== undefined) await writeFile(options.junit, junitReport(tested.map(caseOf)));
  if (options.json) printJson({ success: failed.length === 0, screens: tested.map(rowOf) });
  else for (const one of failed) printFailure(one);
  for (const { file } of updated) notice(`${file} expects what the code takes it for now.`);
  const tookSeconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  if (failed.length > 0) throw failureOf(failed, tested.length);
  if (!options.json) console.log(`${countOf(tested.length)} as expected, in ${tookSeconds} s`);
}

const countOf = (count: number): string => `${count} golden screen${count === 1 ? '' : 's'}`;

function chosen(files: readonly GoldenFile[], filter: string | undefined): GoldenFile[] {
  const found = files.filter(
    ({ file, golden }) => filter === undefined || `${file} ${golden.expect.state}`.includes(filter),
  );
  if (found.length > 0) return found;
  if (files.length > 0) throw usageError(`No golden screen has "${filter}" in its path or state.`);
  throw usageError(
    'There is no golden screen in screens/: "phalanx records keep RECORD --state STATE" or "phalanx screen DEVICE --keep STATE/NAME" makes one.',
  );
}

/** What is not as expected is replayed once more, to tell what it lacks. */
async function testAll(replay: GoldenReplay, files: readonly GoldenFile[]): Promise<Tested[]> {
  const replayed = await replay.replay(files.map(({ golden }) => golden));
  const tested = files.map((one, index) => testedOf(one, replayed[index]));
  const failed = tested.filter(({ failure }) => failure !== undefined);
  const explained = await replay.replay(
    failed.map(({ golden }) => golden),
    true,
  );
  return tested.map((one) => (one.failure === undefined ? one : testedOf(one, explained.shift())));
}

function testedOf({ file, golden }: GoldenFile, replayed: ReplayedScreen | undefined): Tested {
  if (replayed === undefined) throw new Error(`${file} was not replayed`);
  return { file, golden, replayed, failure: judge(golden, replayed) };
}

async function updateAll(root: string, tested: readonly Tested[]): Promise<Tested[]> {
  const updated: Tested[] = [];
  for (const one of tested) {
    const expect = one.failure === undefined ? undefined : newExpectation(one);
    if (expect === undefined) continue;
    await writeBelow(root, one.file, goldenText({ ...one.golden, expect }));
    updated.push(one);
  }
  return updated;
}

/** Nothing is expected of code that says nothing. */
function newExpectation({
  golden: { expect },
  replayed: { verdict },
}: Tested): GoldenScreen['expect'] | undefined {
  if (verdict.kind !== 'state') return undefined;
  const { not, ...others } = expect;
  const stillNot = not?.filter((name) => name !== verdict.state) ?? [];
  return {
    ...others,
    state: verdict.state,
    ...(stillNot.length === 0 ? {} : { not: stillNot }),
    ...(expect.handled === undefined ? {} : { handled: isHandled(verdict) }),
  };
}

function printFailure({ file, failure }: Tested): void {
  if (failure === undefined) return;
  console.log(printable(`${file}: ${failure.message}`));
  for (const detail of failure.details) console.log(printable(`    ${detail}`));
}

function caseOf({ file, golden, failure }: Tested): JunitCase {
  const head = { suite: golden.expect.state ?? 'not', name: file };
  if (failure === undefined) return head;
  const { kind, message, details } = failure;
  return { ...head, failure: { type: kind, message, text: [message, ...details].join('\n') } };
}

const rowOf = ({ file, golden, replayed, failure }: Tested): object => ({
  file,
  expect: golden.expect,
  verdict: replayed.verdict,
  failure: failure ?? null,
});

/** Faults of the code go before screens that it takes for something else. */
function failureOf(failed: readonly Tested[], total: number): CommandError {
  const isFault = failed.some(({ failure }) => failure?.kind === 'threw' || failure?.kind === 'limit');
  return new CommandError(
    isFault ? exitCodes.failed : exitCodes.outOfSteps,
    `${failed.length} of ${countOf(total)} ${failed.length === 1 ? 'is' : 'are'} not as expected.`,
  );
}
