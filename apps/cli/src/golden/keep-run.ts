import path from 'node:path';
import {
  describeSequence,
  type GoldenRun,
  goldenRunText,
  GoldenScreenError,
  parseGoldenRun,
  type SequenceResult,
} from '@phalanx/protocol';

import { CommandError, exitCodes, usageError } from '../exit-codes.ts';
import { notice } from '../output/terminal.ts';
import { findLinkedFolder } from '../project/project-folder.ts';
import { listLocalFiles, findKind, writeBelow } from '../project/local-files.ts';
import { goldenRunPath } from './golden-files.ts';
import { hideOwnMasks, scrub, type Replaced } from './keep-screen.ts';
import { GoldenReplay } from './replay-golden.ts';

export interface RunToKeep {
  golden: GoldenRun;
  /** Name of the file, without its extension. */
  name: string;
  /** Whether to replace an existing file. */
  isForced?: boolean;
}

/** Writes a golden run into the current project folder, if its code behaves as in the record. */
export async function keepRun({ golden, name, isForced }: RunToKeep): Promise<void> {
  const root = (await findLinkedFolder())?.root ?? path.resolve('.');
  const file = goldenRunPath(name);
  if (isForced !== true && (await findKind(path.join(root, file))) !== undefined)
    throw usageError(`${file} already exists: pass another --name, or --force.`);
  for (const { tree } of golden.screens) await hideOwnMasks(root, tree);
  const { paths } = await listLocalFiles(root, []);
  const replay = await GoldenReplay.open({ root, paths });
  try {
    const { kept, needed } = await proveRun(golden, (run) => replay.follow(run));
    for (const text of needed) notice(`The code needs this text, so it stays in the file: "${text}"`);
    await writeBelow(root, file, goldenRunText(kept));
    console.log(file);
  } catch (error) {
    if (error instanceof GoldenScreenError) throw usageError(`The run cannot be saved: it ${error.message}.`);
    throw error;
  }
}

type Follow = (run: GoldenRun) => Promise<SequenceResult>;

/** Removes personal texts from the screens, except those without which the code behaves differently. */
async function proveRun(golden: GoldenRun, follow: Follow): Promise<{ kept: GoldenRun; needed: string[] }> {
  requireSame(await follow(golden));
  const scrubbed = golden.screens.map(({ tree, ...screen }) => ({ ...screen, ...scrub(tree) }));
  const kept = {
    ...golden,
    screens: scrubbed.map(({ replaced: _replaced, ...screen }) => screen),
  };
  const followKept = (): Promise<SequenceResult> => follow(parseGoldenRun(goldenRunText(kept)));
  const needed: string[] = [];
  for (const { replaced } of scrubbed) {
    // Screens are processed in order, so those before this one are the same by now.
    if (isSame(await followKept())) break;
    for (const one of replaced) put(one, one.original);
    needed.push(...(await listNeeded(replaced, followKept)));
  }
  requireSame(await followKept());
  return { kept, needed };
}

/**
 * Hides each text without which the run still gets as far. All texts are visible at first. Returns the texts that the
 * code needs.
 */
async function listNeeded(
  replaced: readonly Replaced[],
  follow: () => Promise<SequenceResult>,
): Promise<string[]> {
  const needed: string[] = [];
  const wanted = progressOf(await follow());
  for (const one of replaced) {
    put(one, one.disguise);
    if (progressOf(await follow()) >= wanted) continue;
    put(one, one.original);
    needed.push(one.original);
  }
  return needed;
}

const isSame = ({ kind }: SequenceResult): boolean => kind === 'same';

const progressOf = (result: SequenceResult): number => (result.kind === 'same' ? Infinity : result.index);

function put({ node, name }: Replaced, text: string): void {
  node[name] = text;
}

function requireSame(result: SequenceResult): void {
  if (result.kind === 'same') return;
  throw new CommandError(
    exitCodes.outOfSteps,
    `The run was not saved, because the code of this folder behaves differently from the record: ${describeSequence(result)}.`,
  );
}
