import path from 'node:path';
import { hideMasked } from '@phalanx/host/hide-masked';
import {
  goldenText,
  GoldenScreenError,
  isHandled,
  isUnknownState,
  ScreenMasks,
  type GoldenScreen,
  type GoldenSource,
  type ReplayVerdict,
  type ScreenTree,
} from '@phalanx/protocol';
import { Compile } from 'typebox/compile';

import { CommandError, usageError } from '../exit-codes.ts';
import { notice } from '../output/notice.ts';
import { findLinkedFolder } from '../project/link.ts';
import { findKind, writeBelow } from '../project/local-path.ts';
import { listLocalFiles } from '../project/list-local-files.ts';
import { readLocalFile, textOf } from '../project/read-local-file.ts';
import { goldenPath } from './golden-files.ts';
import { judge } from './judge.ts';
import { proveScreen } from './prove-screen.ts';
import { GoldenReplay } from './replay-golden.ts';
import { scrub } from './scrub.ts';

export interface ScreenToKeep {
  tree: ScreenTree;
  /** What the project has to take it for. */
  state: string;
  /** Of the file, without its ending. */
  name: string;
  /** The stage that it was stored under, if any. */
  stage?: string;
  from: GoldenSource;
  /** Replaces a file that is there. */
  isForced?: boolean;
}

const masksPath = 'masks.json';
const masks = Compile(ScreenMasks);

/**
 * Writes a golden screen into the project folder that the command is in. Texts of persons are replaced as far as the code
 * takes the screen for the same without them.
 */
export async function keepScreen({ tree, state, name, stage, from, isForced }: ScreenToKeep): Promise<void> {
  const root = (await findLinkedFolder())?.root ?? path.resolve('.');
  const file = goldenPath(state, name);
  if (isForced !== true && (await findKind(path.join(root, file))) !== undefined)
    throw usageError(`${file} is there already: give another --name, or --force.`);
  await hideOwnMasks(root, tree);
  const replay = await openReplay(root, state);
  const isStaged = stage !== undefined && replay?.hasRecogniser !== true;
  const golden = { expect: { state, ...(isStaged ? { stage } : {}) }, from, tree };
  const { kept, verdict } = await proved(golden, replay);
  await writeBelow(root, file, goldenText(kept));
  console.log(file);
  if (verdict !== undefined) notice(verdictText(kept, verdict));
}

/** Undefined where nothing can be replayed: the screen is kept all the same. */
async function openReplay(root: string, state: string): Promise<GoldenReplay | undefined> {
  try {
    const { paths } = await listLocalFiles(root, []);
    return await GoldenReplay.open({ root, paths });
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    notice(`Kept as "${state}" without a replay: ${error.message}`);
    return undefined;
  }
}

async function proved(
  golden: GoldenScreen,
  replay: GoldenReplay | undefined,
): Promise<{ kept: GoldenScreen; verdict: ReplayVerdict | undefined }> {
  const unproved = { kept: { ...golden, tree: scrub(golden.tree).tree }, verdict: undefined };
  if (replay === undefined) return unproved;
  try {
    const { kept, verdict, needed, isOther } = await proveScreen(
      golden,
      async (one) => (await replay.replay([one]))[0]?.verdict,
    );
    for (const text of needed) notice(`The code needs this text, so it stays in the file: "${text}"`);
    if (isOther) notice(otherText);
    const isDone = verdict?.kind === 'state' && isHandled(verdict) && golden.expect.stage !== undefined;
    return { kept: isDone ? { ...kept, expect: { ...kept.expect, handled: true } } : kept, verdict };
  } catch (error) {
    if (error instanceof GoldenScreenError)
      throw usageError(`The screen can't be kept: it ${error.message}.`);
    if (!(error instanceof CommandError)) throw error;
    notice(`Kept without a replay: ${error.message}`);
    return unproved;
  }
}

const otherText =
  'The code takes the screen for something else than it did on the phone: it goes by a password or an announcement, which no golden screen has. Let it go by something else, or state in the file what it has to be taken for.';

export async function hideOwnMasks(root: string, { root: top }: ScreenTree): Promise<void> {
  if ((await findKind(path.join(root, masksPath))) !== 'file') return;
  const value: unknown = JSON.parse(textOf(await readLocalFile(root, masksPath)));
  if (!masks.Check(value)) throw usageError(`${masksPath} is not valid: the screen was not kept.`);
  const { right, bottom } = top.boundsInScreen;
  hideMasked(top, value, { width: right, height: bottom });
}

function verdictText(golden: GoldenScreen, verdict: ReplayVerdict): string {
  const failure = judge(golden, { verdict, missed: [] });
  if (failure === undefined) return 'The code takes it for that. "phalanx test" says when it no longer does.';
  if (verdict.kind === 'state' && isUnknownState(verdict.state))
    return `The code does not know it yet. "phalanx test" says when it takes it for "${golden.expect.state}".`;
  return `The code does not take it for that yet: ${failure.message}`;
}
