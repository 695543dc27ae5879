import type { UiNode } from '@phalanx/protocol';
import { describe, expect, it } from 'vitest';

import {
  labelledScreens,
  type LabelledScreen,
  type Variety,
} from '../../../testing/records/labelled-screens.ts';
import { findGroup, type GroupedScreen, type ScreenGroup } from './nearest-group.ts';
import { printOf } from './screen-print.ts';

const mostScreens = 8;

/** The group of each screen, as they come one after the other. */
function groupAll(screens: readonly LabelledScreen[]): string[] {
  const groups: { id: string; screens: GroupedScreen[] }[] = [];
  return screens.map(({ tree, language }) => {
    const screen = { print: printOf(tree), language };
    const joined = findGroup(screen, groups satisfies ScreenGroup[]);
    const group = groups.find(({ id }) => id === joined?.groupId);
    if (group === undefined) groups.push({ id: `${groups.length}`, screens: [screen] });
    else if (joined?.reason.by !== 'key' && group.screens.length < mostScreens) group.screens.push(screen);
    return group?.id ?? `${groups.length - 1}`;
  });
}

/** Precision and recall for each screen, and their means (B-cubed). */
function measure(screens: readonly LabelledScreen[], groups: readonly string[]) {
  const rows = screens.map(({ label }, index) => ({ label, group: groups[index] }));
  const byGroup = Map.groupBy(rows, ({ group }) => group);
  const byLabel = Map.groupBy(rows, ({ label }) => label);
  const mean = (share: (row: (typeof rows)[number]) => number): number =>
    rows.reduce((sum, row) => sum + share(row), 0) / rows.length;
  const both = ({ label, group }: (typeof rows)[number]): number =>
    byGroup.get(group)?.filter((row) => row.label === label).length ?? 0;
  return {
    precision: mean((row) => both(row) / (byGroup.get(row.group)?.length ?? 1)),
    recall: mean((row) => both(row) / (byLabel.get(row.label)?.length ?? 1)),
    groups: byGroup.size,
  };
}

function shuffled<Item>(items: readonly Item[], seed: number): Item[] {
  const order = items.map((item, index) => ({ item, at: Math.imul(index + 1, seed * 2_654_435_761) >>> 0 }));
  return order.toSorted((a, b) => a.at - b.at).map(({ item }) => item);
}

/** The thresholds were chosen with another number, which gives other screens. */
const seed = 7;
const languages = ['en', 'de', 'ja'];

describe('of screens whose names are known', () => {
  it.each<[string, Omit<Variety, 'seed'>, { precision: number; recall: number }]>([
    [
      'with IDs, in one language',
      { hasIds: true, languages: ['en'], versions: [1, 2] },
      { precision: 0.92, recall: 0.95 },
    ],
    [
      'with IDs, in three languages',
      { hasIds: true, languages, versions: [1, 2] },
      { precision: 0.92, recall: 0.9 },
    ],
    [
      'without IDs, in one language',
      { hasIds: false, languages: ['en'], versions: [1, 2] },
      { precision: 0.88, recall: 0.9 },
    ],
    [
      'without IDs, in three languages',
      { hasIds: false, languages, versions: [1, 2] },
      { precision: 0.88, recall: 0.3 },
    ],
  ])('%s, groups have the precision and recall that are wanted', (name, variety, goal) => {
    const screens = labelledScreens({ ...variety, seed });
    const all = [3, 5, 11].map((order) => {
      const mixed = shuffled(screens, order);
      return measure(mixed, groupAll(mixed));
    });
    const worst = (of: 'precision' | 'recall'): number => Math.min(...all.map((one) => one[of]));
    console.log(`${name}: ${screens.length} screens`, all);
    expect(worst('precision')).toBeGreaterThanOrEqual(goal.precision);
    expect(worst('recall')).toBeGreaterThanOrEqual(goal.recall);
  });
});

it('a tree of a hostile app costs no more than a large one', () => {
  const [made] = labelledScreens({ hasIds: true, languages: ['en'], versions: [1], seed });
  if (made === undefined) throw new Error('no screen was made');
  const { root } = made.tree;
  let deep: UiNode = { ...root, children: [] };
  for (let depth = 0; depth < 3000; depth += 1)
    deep = { ...root, viewId: `com.example.shop:id/x${'y'.repeat(depth)}`, children: [deep] };
  const wide = Array.from({ length: 20_000 }, (_, index) => ({
    ...root,
    text: `${'a'.repeat(index % 40)}b`,
    children: [],
  }));
  for (const children of [[deep], wide]) {
    const { features, words, ids } = printOf({ ...made.tree, root: { ...root, children } });
    expect(Math.max(features.size, words.size, ids.size)).toBeLessThanOrEqual(256);
  }
});
