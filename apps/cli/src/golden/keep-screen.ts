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
  /** State that the project must recognise. */
  state: string;
  /** Name of the file, without its extension. */
  name: string;
  /** Stage under which the screen was stored, if any. */
  stage?: string;
  from: GoldenSource;
  /** Whether to replace an existing file. */
  isForced?: boolean;
}

const masksPath = 'masks.json';
const masks = Compile(ScreenMasks);

/**
 * Writes a golden screen into the current project folder. Replaces personal texts, except those that the code needs to
 * recognise the same state.
 */
export async function keepScreen({ tree, state, name, stage, from, isForced }: ScreenToKeep): Promise<void> {
  const root = (await findLinkedFolder())?.root ?? path.resolve('.');
  const file = goldenPath(state, name);
  if (isForced !== true && (await findKind(path.join(root, file))) !== undefined)
    throw usageError(`${file} already exists: pass another --name, or --force.`);
  await hideOwnMasks(root, tree);
  const replay = await openReplay(root, state);
  const isStaged = stage !== undefined && replay?.hasRecogniser !== true;
  const golden = { expect: { state, ...(isStaged ? { stage } : {}) }, from, tree };
  const { kept, verdict } = await proved(golden, replay);
  await writeBelow(root, file, goldenText(kept));
  console.log(file);
  if (verdict !== undefined) notice(verdictText(kept, verdict));
}

/** Opens a replay. Returns undefined if the code cannot be replayed; the screen is then saved without a replay. */
async function openReplay(root: string, state: string): Promise<GoldenReplay | undefined> {
  try {
    const { paths } = await listLocalFiles(root, []);
    return await GoldenReplay.open({ root, paths });
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    notice(`Saved as "${state}" without a replay: ${error.message}`);
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
      throw usageError(`The screen cannot be saved: it ${error.message}.`);
    if (!(error instanceof CommandError)) throw error;
    notice(`Saved without a replay: ${error.message}`);
    return unproved;
  }
}

const otherText =
  'The code recognises another state than on the phone, because it depends on a password or an announcement, which golden screens do not contain. Change what the code depends on, or set the expected state in the file.';

export async function hideOwnMasks(root: string, { root: top }: ScreenTree): Promise<void> {
  if ((await findKind(path.join(root, masksPath))) !== 'file') return;
  const value: unknown = JSON.parse(textOf(await readLocalFile(root, masksPath)));
  if (!masks.Check(value)) throw usageError(`${masksPath} is not valid: the screen was not saved.`);
  const { right, bottom } = top.boundsInScreen;
  hideMasked(top, value, { width: right, height: bottom });
}

function verdictText(golden: GoldenScreen, verdict: ReplayVerdict): string {
  const failure = judge(golden, { verdict, missed: [] });
  if (failure === undefined)
    return 'The code recognises this state. "phalanx test" fails when it no longer does.';
  if (verdict.kind === 'state' && isUnknownState(verdict.state))
    return `The code does not recognise the screen yet. "phalanx test" passes when the code recognises "${golden.expect.state}".`;
  return `The code does not recognise this state yet: ${failure.message}`;
}

export interface ProvedScreen {
  kept: GoldenScreen;
  /** Verdict of the code on the saved file; undefined if the code stores nothing. */
  verdict: ReplayVerdict | undefined;
  /** Personal texts that the code needs, and that stay in the file. */
  needed: string[];
  /** Whether the code depends on something that the file cannot contain. */
  isOther: boolean;
}

type VerdictOf = (golden: GoldenScreen) => Promise<ReplayVerdict | undefined>;

/** Removes personal texts from a screen, except those that the code needs to recognise the same state. */
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
 * Hides each text without which the code still recognises the same state. All texts are visible at first. Returns the
 * texts that the code needs.
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

/** Returns the screen as read back from its file, which omits some data. Throws a GoldenScreenError if it cannot. */
const asRead = (golden: GoldenScreen): GoldenScreen => parseGolden(goldenText(golden));

/** Compares verdicts without the calls, because their descriptions may contain the text of a node. */
function isEqual(one: ReplayVerdict | undefined, other: ReplayVerdict | undefined): boolean {
  if (one?.kind !== 'state' || other?.kind !== 'state') return one?.kind === other?.kind;
  return one.state === other.state && one.stage === other.stage && one.next === other.next;
}

/** Maximum length of a label. Longer texts are content. */
const maxLabelLength = 60;
const minPersonalDigits = 4;
const texts = ['text', 'description', 'hintText', 'tooltipText'] as const;

/** Text in the tree that was replaced. */
export interface Replaced {
  node: UiNode;
  name: (typeof texts)[number];
  original: string;
  disguise: string;
}

/**
 * Returns a copy in which personal and typed texts are placeholders of the same length. Also returns the replaced
 * texts, so that they can be restored.
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
