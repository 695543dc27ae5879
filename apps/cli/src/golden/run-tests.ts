import { writeFile } from 'node:fs/promises';
import { goldenText, isHandled, type GoldenScreen, type SequenceResult } from '@phalanx/protocol';
import type { ReplayedScreen } from '@phalanx/host/replays';

import { CommandError, exitCodes, usageError } from '../exit-codes.ts';
import { junitReport, type JunitCase } from '../output/junit.ts';
import { notice, printable } from '../output/terminal.ts';
import { printJson } from '../output/table.ts';
import { listLocalFiles, writeBelow } from '../project/local-files.ts';
import { readGoldenFiles, readGoldenRuns, type GoldenFile, type GoldenRunFile } from './golden-files.ts';
import { judge, judgeRun, type Failure } from './judge.ts';
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

interface TestedRun {
  file: string;
  result: SequenceResult;
  failure: Failure | undefined;
}

/** Replays a folder's golden screens and runs, and prints the results. Throws a CommandError if one is unexpected. */
export async function runTests(root: string, options: TestOptions): Promise<void> {
  const startedAt = performance.now();
  const { paths } = await listLocalFiles(root, []);
  const golden = { screens: await readGoldenFiles(root, paths), runs: await readGoldenRuns(root, paths) };
  const { screens, runs } = chosen(golden, options.filter);
  const replay = await GoldenReplay.open({ root, paths });
  const tested = await testAll(replay, screens);
  const testedRuns = await testRuns(replay, runs);
  const updated = options.update ? await updateAll(root, tested) : [];
  const all = [...tested.filter((one) => !updated.includes(one)), ...testedRuns];
  const failed = all.filter(({ failure }) => failure !== undefined);
  if (options.junit !== undefined)
    await writeFile(options.junit, junitReport([...tested.map(caseOf), ...testedRuns.map(caseOfRun)]));
  if (options.json)
    printJson({ success: failed.length === 0, screens: tested.map(rowOf), runs: testedRuns.map(rowOfRun) });
  else for (const one of failed) printFailure(one);
  for (const { file } of updated) notice(`${file} was updated to what the code recognises.`);
  const tookSeconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  const counts = { screens: tested.length, runs: testedRuns.length };
  if (failed.length > 0) throw failureOf(failed, counts);
  if (!options.json) console.log(`${countOf(counts)} as expected, in ${tookSeconds} s`);
}

interface Counts {
  screens: number;
  runs: number;
}

const countOf = ({ screens, runs }: Counts): string =>
  [
    ...(screens === 0 && runs > 0 ? [] : [`${screens} golden screen${screens === 1 ? '' : 's'}`]),
    ...(runs === 0 ? [] : [`${runs} golden run${runs === 1 ? '' : 's'}`]),
  ].join(' and ');

interface Golden {
  screens: readonly GoldenFile[];
  runs: readonly GoldenRunFile[];
}

function chosen({ screens, runs }: Golden, filter: string | undefined): Golden {
  const found = {
    screens: screens.filter(
      ({ file, golden }) => filter === undefined || `${file} ${golden.expect.state}`.includes(filter),
    ),
    runs: runs.filter(({ file }) => filter === undefined || file.includes(filter)),
  };
  if (found.screens.length + found.runs.length > 0) return found;
  if (screens.length + runs.length > 0)
    throw usageError(`No golden screen or run has "${filter}" in its path or state.`);
  throw usageError(
    'screens/ has no golden screens: create one with "phalanx records keep RECORD --state STATE" or "phalanx screen DEVICE --keep STATE/NAME".',
  );
}

async function testRuns(replay: GoldenReplay, runs: readonly GoldenRunFile[]): Promise<TestedRun[]> {
  const tested: TestedRun[] = [];
  for (const { file, golden } of runs) {
    const result = await replay.follow(golden);
    tested.push({ file, result, failure: judgeRun(result) });
  }
  return tested;
}

/** Replays all screens, and unexpected ones once more to explain them. */
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

/** Returns the new expectation; undefined if the code reports no state. */
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

function printFailure({ file, failure }: Pick<Tested, 'file' | 'failure'>): void {
  if (failure === undefined) return;
  console.log(printable(`${file}: ${failure.message}`));
  for (const detail of failure.details) console.log(printable(`    ${detail}`));
}

const caseOf = ({ file, golden, failure }: Tested): JunitCase =>
  caseWith({ suite: golden.expect.state ?? 'not', name: file }, failure);

const caseOfRun = ({ file, failure }: TestedRun): JunitCase =>
  caseWith({ suite: 'runs', name: file }, failure);

function caseWith(head: JunitCase, failure: Failure | undefined): JunitCase {
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

const rowOfRun = ({ file, result, failure }: TestedRun): object => ({
  file,
  result,
  failure: failure ?? null,
});

/** Returns the error of failed tests. Errors of the code take precedence over unexpected screens. */
function failureOf(failed: readonly Pick<Tested, 'failure'>[], counts: Counts): CommandError {
  const isFault = failed.some(({ failure }) => failure?.kind === 'threw' || failure?.kind === 'limit');
  return new CommandError(
    isFault ? exitCodes.failed : exitCodes.outOfSteps,
    `${failed.length} of ${countOf(counts)} ${failed.length === 1 ? 'is' : 'are'} not as expected.`,
  );
}
