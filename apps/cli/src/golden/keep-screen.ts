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
  parseGolden,
  type UiNode,
} from '@phalanx/protocol';
import { Compile } from 'typebox/compile';

import { CommandError, usageError } from '../exit-codes.ts';
import { notice } from '../output/terminal.ts';
import { findLinkedFolder } from '../project/project-folder.ts';
import { findKind, writeBelow, readLocalFile, textOf, listLocalFiles } from '../project/local-files.ts';
import { goldenPath } from './golden-files.ts';
import { judge } from './judge.ts';
import { GoldenReplay } from './replay-golden.ts';

export interface ScreenToKeep {
  tree: ScreenTree;
  /** State that the project has to take the screen for. */
  state: string;
  /** Name of the file, without its extension. */
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

export interface ProvedScreen {
  kept: GoldenScreen;
  /** Verdict of the code on the file; undefined when it stores nothing. */
  verdict: ReplayVerdict | undefined;
  /** Texts of persons that the code needs, and that are in the file. */
  needed: string[];
  /** The code goes by something that the file can't have. */
  isOther: boolean;
}

type VerdictOf = (golden: GoldenScreen) => Promise<ReplayVerdict | undefined>;

/** Takes the texts of persons out of a screen as far as the code takes it for the same without them. */
export async function proveScreen(golden: GoldenScreen, verdictOf: VerdictOf): Promise<ProvedScreen> {
  const { tree, replaced } = scrub(golden.tree);
  const kept = { ...golden, tree };
  const wanted = await verdictOf(golden);
  const judgeKept = (): Promise<ReplayVerdict | undefined> => verdictOf(asRead(kept));
  const isSame = async (): Promise<boolean> => isEqual(await judgeKept(), wanted);
  const scrubbed = await judgeKept();
  if (isEqual(scrubbed, wanted)) return { kept, verdict: scrubbed, needed: [], isOther: false };
  for (const one of replaced) show(one);
  if (!(await isSame())) {
    for (const one of replaced) hide(one);
    return { kept, verdict: scrubbed, needed: [], isOther: true };
  }
  const needed = await listNeeded(replaced, isSame);
  return { kept, verdict: wanted, needed, isOther: false };
}

/**
 * Hides each text without which the code takes the screen for the same; all texts are shown at first. Returns
 * those that are needed.
 */
async function listNeeded(replaced: readonly Replaced[], isSame: () => Promise<boolean>): Promise<string[]> {
  const needed: string[] = [];
  for (const one of replaced) {
    hide(one);
    if (await isSame()) continue;
    show(one);
    needed.push(one.original);
  }
  return needed;
}

function show({ node, name, original }: Replaced): void {
  node[name] = original;
}

function hide({ node, name, disguise }: Replaced): void {
  node[name] = disguise;
}

/** Not all that the code saw goes into a file. Throws a GoldenScreenError for what can't be in one. */
const asRead = (golden: GoldenScreen): GoldenScreen => parseGolden(goldenText(golden));

/** Compares verdicts without the calls, because their descriptions may contain the text of a node. */
function isEqual(one: ReplayVerdict | undefined, other: ReplayVerdict | undefined): boolean {
  if (one?.kind !== 'state' || other?.kind !== 'state') return one?.kind === other?.kind;
  return one.state === other.state && one.stage === other.stage && one.next === other.next;
}

/** Longer texts are content rather than labels. */
const maxLabelLength = 60;
const minPersonalDigits = 4;
const texts = ['text', 'description', 'hintText', 'tooltipText'] as const;

/** A place of the tree whose text was replaced. */
export interface Replaced {
  node: UiNode;
  name: (typeof texts)[number];
  original: string;
  disguise: string;
}

/**
 * A copy in which texts that say something of a person, or that a person has typed, are letters of the same length; and
 * what was replaced, so that it can be put back.
 */
export function scrub(tree: ScreenTree): { tree: ScreenTree; replaced: Replaced[] } {
  const copy = structuredClone(tree);
  const replaced: Replaced[] = [];
  const waiting = [copy.root];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    for (const name of texts) {
      const original = node[name];
      if (original === null || !isPersonal(node, name, original)) continue;
      const disguise = node.password ? '•'.repeat(original.length) : disguised(original);
      node[name] = disguise;
      if (!node.password && disguise !== original) replaced.push({ node, name, original, disguise });
    }
    waiting.push(...node.children);
  }
  delete copy.announced;
  delete copy.treeId;
  return { tree: copy, replaced };
}

function isPersonal(node: UiNode, name: string, text: string): boolean {
  const isTyped = name === 'text' && (node.password || (isEditable(node) && !node.isShowingHintText));
  const digits = text.replaceAll(/\D/g, '').length;
  return isTyped || digits >= minPersonalDigits || text.length > maxLabelLength || /\S@\S/.test(text);
}

const isEditable = ({ className }: UiNode): boolean => /EditText|AutoComplete/.test(className ?? '');

const disguised = (text: string): string =>
  text
    .replaceAll(/\p{Lu}/gu, 'X')
    .replaceAll(/\p{L}/gu, (letter) => (letter === 'X' ? 'X' : 'x'))
    .replaceAll(/\d/g, '0');
