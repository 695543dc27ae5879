import type { NearestState } from '@phalanx/protocol';

import { likeness } from '../groups/prints/nearest-group.ts';
import type { ScreenPrint } from '../groups/prints/screen-print.ts';

/** A screen of which it is known what it is. */
export interface KnownScreen extends Pick<NearestState, 'kind' | 'name' | 'state'> {
  print: ScreenPrint;
}

/** What is less alike is another screen. */
const leastLikeness = 0.3;
const shownNames = 3;

/** The known screen that is most like it, with what differs in words; undefined: none is like it. */
export function findNearestState(
  print: ScreenPrint,
  known: readonly KnownScreen[],
): NearestState | undefined {
  const ranked = known
    .filter((one) => one.print.packageName === print.packageName)
    .map((one) => ({ one, score: likeness(print, one.print) }))
    .toSorted((a, b) => b.score - a.score);
  const [best] = ranked;
  if (best === undefined || best.score < leastLikeness) return undefined;
  const { kind, name, state } = best.one;
  const difference = differenceOf(best.one.print, print);
  return { kind, name, state, likeness: Math.round(best.score * 100) / 100, difference };
}

/** IDs tell most; words where there are none. */
export function differenceOf(before: ScreenPrint, now: ScreenPrint): string {
  const ids = changes(before.ids, now.ids, (id) => `#${id}`);
  if (ids !== '') return ids;
  const words = changes(new Set(before.words.keys()), new Set(now.words.keys()), (word) => `“${word}”`);
  return words === '' ? 'the same IDs and words in another form' : words;
}

function changes(
  before: ReadonlySet<string>,
  now: ReadonlySet<string>,
  nameOf: (one: string) => string,
): string {
  const gone = [...before].filter((one) => !now.has(one)).map(nameOf);
  const added = [...now].filter((one) => !before.has(one)).map(nameOf);
  return [sentence(gone, 'gone'), sentence(added, 'new')].filter((part) => part !== '').join('; ');
}

function sentence(names: readonly string[], what: string): string {
  if (names.length === 0) return '';
  const more = names.length - shownNames;
  const list = [...names.slice(0, shownNames), ...(more > 0 ? [`${more} more`] : [])];
  const last = list.at(-1) ?? '';
  if (list.length === 1) return `${last} is ${what}`;
  return `${list.slice(0, -1).join(', ')} and ${last} are ${what}`;
}
