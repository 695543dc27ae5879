import {
  findGroup,
  type GroupedScreen,
  type ScreenGroup,
} from '../../evidence/records/groups/prints/nearest-group.ts';

/** Maximum number of screens of a group that others are compared with. */
const maxScreens = 8;

/** The group of each screen, as they come one after the other. */
export function groupAll(screens: readonly GroupedScreen[]): string[] {
  const groups: { id: string; screens: GroupedScreen[] }[] = [];
  return screens.map((screen) => {
    const joined = findGroup(screen, groups satisfies ScreenGroup[]);
    const group = groups.find(({ id }) => id === joined?.groupId);
    if (group === undefined) groups.push({ id: `${groups.length}`, screens: [screen] });
    else if (joined?.reason.by !== 'key' && group.screens.length < maxScreens) group.screens.push(screen);
    return group?.id ?? `${groups.length - 1}`;
  });
}

export interface GroupingQuality {
  precision: number;
  recall: number;
  groups: number;
}

/** Precision and recall for each screen, and their means (B-cubed). `labels` says which screen each one is. */
export function measureGroups(labels: readonly string[], groups: readonly string[]): GroupingQuality {
  const rows = labels.map((label, index) => ({ label, group: groups[index] }));
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

/** Another order of the same, the same one for the same seed. */
export function shuffled<Item>(items: readonly Item[], seed: number): Item[] {
  const order = items.map((item, index) => ({ item, at: Math.imul(index + 1, seed * 2_654_435_761) >>> 0 }));
  return order.toSorted((a, b) => a.at - b.at).map(({ item }) => item);
}
