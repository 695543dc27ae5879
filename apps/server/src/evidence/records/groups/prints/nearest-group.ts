import type { ScreenPrint } from './screen-print.ts';

/** Screen that represents a group. */
export interface GroupedScreen {
  print: ScreenPrint;
  /** Language of the phone, for example `de`; null when it is not known. */
  language: string | null;
}

export interface ScreenGroup {
  id: string;
  /** Samples of its different screens. */
  screens: readonly GroupedScreen[];
}

/** Reason why a screen belongs to a group. */
export type JoinReason = { by: 'key' } | { by: 'id'; id: string } | { by: 'likeness'; likeness: number };

export interface Joining {
  groupId: string;
  reason: JoinReason;
}

/** Minimum likeness of two screens with IDs. It is lower than without IDs, because IDs are more specific than words. */
const likenessWithIds = 0.55;
const likenessWithoutIds = 0.65;
const likenessAcrossLanguages = 0.8;
/** Minimum lead over the second-best group when words cannot be compared. */
const aheadAcrossLanguages = 0.1;
/**
 * Minimum likeness of form for a match by an ID that only one group has. Below it, the ID belongs to another screen.
 */
const likenessByOwnId = 0.4;
/** Minimum number of features, because all nearly empty screens are alike. */
const minFeatures = 3;
const manyIds = 4;

/** Finds the group that a screen belongs to. Returns undefined when the screen starts a new group. */
export function findGroup(screen: GroupedScreen, groups: readonly ScreenGroup[]): Joining | undefined {
  const ofApp = groups.filter(({ screens }) => screens[0]?.print.packageName === screen.print.packageName);
  const same = ofApp.find(({ screens }) => screens.some((one) => one.print.key === screen.print.key));
  if (same !== undefined) return { groupId: same.id, reason: { by: 'key' } };
  if (screen.print.features.size < minFeatures) return undefined;
  return byLikeness(screen, ofApp) ?? byOwnId(screen, ofApp) ?? acrossLanguages(screen, ofApp);
}

const isOfLanguage = (one: GroupedScreen, other: GroupedScreen): boolean => one.language === other.language;

function byLikeness(screen: GroupedScreen, groups: readonly ScreenGroup[]): Joining | undefined {
  const [best] = ranked(groups, ({ screens }) =>
    highest(screens.filter((one) => isOfLanguage(one, screen)).map((one) => margin(screen.print, one.print))),
  );
  if (best === undefined || best.score < 0) return undefined;
  return joining(best.group, screen, likeness);
}

/** Returns by how much the likeness of two screens of one language exceeds its threshold. */
const margin = (one: ScreenPrint, other: ScreenPrint): number =>
  likeness(one, other) - (haveIds(one, other) ? likenessWithIds : likenessWithoutIds);

const haveIds = (one: ScreenPrint, other: ScreenPrint): boolean =>
  one.ids.size >= manyIds && other.ids.size >= manyIds;

/**
 * Returns the likeness of two screens, from 0 to 1. Without IDs, many screens of an app have the same form, so words
 * count for more.
 */
export function likeness(one: ScreenPrint, other: ScreenPrint): number {
  const form = haveIds(one, other) ? 0.5 : 0.3;
  return form * overlap(one.features, other.features) + (1 - form) * overlap(one.words, other.words);
}

const likenessOfForm = (one: ScreenPrint, other: ScreenPrint): number =>
  overlap(one.features, other.features);

/** Finds the only group that has certain IDs of the screen. Such an ID identifies the screen in all languages. */
function byOwnId(screen: GroupedScreen, groups: readonly ScreenGroup[]): Joining | undefined {
  const owned = [...screen.print.ids].map((id) => ({
    id,
    owners: groups.filter(({ screens }) => screens.some(({ print }) => print.ids.has(id))),
  }));
  const own = owned.flatMap(({ id, owners: [group, ...others] }) =>
    group === undefined || others.length > 0 ? [] : [{ id, group }],
  );
  const [first] = own;
  if (first === undefined || own.some(({ group }) => group !== first.group)) return undefined;
  // A new screen may share one part with a known screen, such as a counter or a banner.
  if (own.length <= owned.filter(({ owners }) => owners.length === 0).length) return undefined;
  const form = highest(first.group.screens.map(({ print }) => likenessOfForm(screen.print, print)));
  if (form < likenessByOwnId) return undefined;
  return { groupId: first.group.id, reason: { by: 'id', id: first.id } };
}

function acrossLanguages(screen: GroupedScreen, groups: readonly ScreenGroup[]): Joining | undefined {
  const foreign = groups.filter(({ screens }) => !screens.some((one) => isOfLanguage(one, screen)));
  const [best, second] = ranked(foreign, ({ screens }) =>
    highest(screens.map(({ print }) => likenessOfForm(screen.print, print))),
  );
  if (best === undefined || best.score < likenessAcrossLanguages || screen.print.ids.size < 2)
    return undefined;
  if (second !== undefined && best.score - second.score < aheadAcrossLanguages) return undefined;
  return joining(best.group, screen, likenessOfForm);
}

function joining(
  group: ScreenGroup,
  { print }: GroupedScreen,
  measure: (one: ScreenPrint, other: ScreenPrint) => number,
): Joining {
  const score = highest(group.screens.map((one) => measure(print, one.print)));
  return { groupId: group.id, reason: { by: 'likeness', likeness: Math.round(score * 100) / 100 } };
}

const highest = (scores: readonly number[]): number => Math.max(-1, ...scores);

const ranked = (
  groups: readonly ScreenGroup[],
  score: (group: ScreenGroup) => number,
): { group: ScreenGroup; score: number }[] =>
  groups.map((group) => ({ group, score: score(group) })).toSorted((a, b) => b.score - a.score);

/** Returns the weighted Jaccard index, from 0 to 1. */
function overlap(one: ReadonlyMap<string, number>, other: ReadonlyMap<string, number>): number {
  let both = 0;
  let all = 0;
  for (const [name, weight] of one) {
    const known = other.get(name) ?? 0;
    both += Math.min(weight, known);
    all += Math.max(weight, known);
  }
  for (const [name, weight] of other) if (!one.has(name)) all += weight;
  return all === 0 ? 0.5 : both / all;
}
