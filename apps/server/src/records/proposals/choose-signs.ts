import type { PossibleSign } from '@phalanx/automation/screen-signs';

/** A condition with the other screens on which it holds, by their positions. */
export interface TriedSign extends PossibleSign {
  readonly elsewhere: ReadonlySet<number>;
}

/** Conditions that hold together on no other screen. */
export interface ChosenSign {
  readonly parts: readonly TriedSign[];
  readonly cost: number;
}

const pairCost = 15;
const tripleCost = 35;
/** A common condition alone says too little as soon as the app has a screen that nobody has saved. */
const commonAloneCost = 40;
/** So many conditions are tried together in threes. */
const mostInTriples = 30;

/** The cheapest signs of one to three conditions that hold on no other screen. None has a condition that it could do without. */
export function chooseSigns(tried: readonly TriedSign[], most: number): ChosenSign[] {
  const alone = tried.filter(({ elsewhere }) => elsewhere.size === 0);
  const rest = tried.filter(({ elsewhere }) => elsewhere.size > 0);
  const pairs = combine(
    rest,
    rest.map((part) => [part]),
  );
  const open = combine(rest.slice(0, mostInTriples), pairsOf(rest.slice(0, mostInTriples)));
  return [...alone.map((part) => [part]), ...pairs, ...open]
    .map((parts) => ({ parts, cost: costOf(parts) }))
    .toSorted((one, other) => one.cost - other.cost)
    .slice(0, most);
}

function costOf(parts: readonly TriedSign[]): number {
  const sum = parts.reduce((total, { cost }) => total + cost, 0);
  const extra = [0, 0, pairCost, tripleCost][parts.length] ?? tripleCost;
  return sum + extra + (parts.every(({ isCommon }) => isCommon) ? commonAloneCost : 0);
}

/** Pairs that do hold together on another screen. */
const pairsOf = (signs: readonly TriedSign[]): TriedSign[][] =>
  signs.flatMap((one, index) =>
    signs
      .slice(index + 1)
      .filter((other) => shared(one.elsewhere, [other]).length > 0)
      .map((other) => [one, other]),
  );

/** Each begun combination with one more condition behind its last one, as far as that separates. */
function combine(signs: readonly TriedSign[], begun: readonly (readonly TriedSign[])[]): TriedSign[][] {
  const place = new Map(signs.map((sign, index) => [sign, index]));
  return begun.flatMap((parts) => {
    const [first, ...others] = parts;
    const last = parts.at(-1);
    if (first === undefined || last === undefined) return [];
    const left = shared(first.elsewhere, others);
    return signs
      .slice((place.get(last) ?? signs.length) + 1)
      .filter((sign) => !left.some((screen) => sign.elsewhere.has(screen)) && needsAll(parts, sign))
      .map((sign) => [...parts, sign]);
  });
}

const shared = (screens: ReadonlySet<number>, others: readonly TriedSign[]): number[] =>
  [...screens].filter((screen) => others.every(({ elsewhere }) => elsewhere.has(screen)));

/** Whether no two of three conditions would do. */
const needsAll = (parts: readonly TriedSign[], added: TriedSign): boolean =>
  parts.length < 2 || parts.every((part) => shared(part.elsewhere, [added]).length > 0);
