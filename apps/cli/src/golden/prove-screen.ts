import { goldenText, parseGolden, type GoldenScreen, type ReplayVerdict } from '@phalanx/protocol';

import { scrub, type Replaced } from './scrub.ts';

export interface ProvedScreen {
  kept: GoldenScreen;
  /** What the code takes the file for; undefined when it says nothing. */
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
  const judge = (): Promise<ReplayVerdict | undefined> => verdictOf(asRead(kept));
  const isSame = async (): Promise<boolean> => isEqual(await judge(), wanted);
  const scrubbed = await judge();
  if (isEqual(scrubbed, wanted)) return { kept, verdict: scrubbed, needed: [], isOther: false };
  for (const one of replaced) show(one);
  if (!(await isSame())) {
    for (const one of replaced) hide(one);
    return { kept, verdict: scrubbed, needed: [], isOther: true };
  }
  const needed = await listNeeded(replaced, isSame);
  return { kept, verdict: wanted, needed, isOther: false };
}

/** Of texts that are all shown, hides each without which the code takes the screen for the same. */
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

/** What was done may be told with the text of a node. */
function isEqual(one: ReplayVerdict | undefined, other: ReplayVerdict | undefined): boolean {
  if (one?.kind !== 'state' || other?.kind !== 'state') return one?.kind === other?.kind;
  return one.state === other.state && one.stage === other.stage && one.next === other.next;
}
