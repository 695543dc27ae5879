import { fileURLToPath } from 'node:url';

import {
  absentSigns,
  isOpaqueId,
  type PossibleSign,
  type SignCondition,
} from '@phalanx/automation/screen-signs';
import { signFragilities, type SignFragility } from '@phalanx/protocol';
import type { Confinement } from '@phalanx/confinement';

import type { Batches } from './saved-screens-store.ts';
import { ConfinedProcessEnded } from '../../../kernel/processes/confined-process.ts';
import { OnDemandProcess } from '../../../kernel/processes/on-demand-process.ts';
import { asSent, type FromProcess, isFromProcess, type ToProcess } from './process/messages.ts';

export interface FoundSign {
  conditions: readonly SignCondition[];
  fragile: SignFragility[];
}

export interface FoundSigns {
  signs: FoundSign[];
  /** Condition of the button that closes the screen; null when there is no such button. */
  button: SignCondition | null;
  /** Number of screens of the group on which all signs hold. */
  screens: number;
  /** Number of screens on which none of the signs holds. */
  others: number;
}

const maxSigns = 5;
/** Maximum number of conditions that are tried on the other screens. */
const maxTried = 60;
/** Position that stands for all screens that were not saved. */
const anyOther = -1;
/** Maximum number of other screens on which all conditions hold. With more of them, no absent IDs are searched for. */
const maxAlike = 50;

/** Number of known languages and app versions with which the group was seen. */
export interface Variety {
  languages: number;
  appVersions: number;
}

interface Options {
  variety: Variety;
  reader: Pick<SignReader, 'list' | 'test'>;
  screens: readonly Uint8Array[];
  others: Batches;
}

/**
 * Finds conditions that hold on all of the screens and together on no other screen, according to the runtime's matcher.
 */
export async function findSigns({ variety, reader, screens, others }: Options): Promise<FoundSigns> {
  const { signs, button, prints } = await reader.list(screens, maxTried);
  const readable = screens.filter((_, index) => prints[index] !== null);
  const own = await keepHeld(reader, signs, readable);
  const tried = new Trial(own, new Set(prints.flatMap((print) => print ?? [])));
  for await (const batch of others)
    tried.add(
      await reader.test(
        own.map(({ condition }) => condition),
        batch,
      ),
      batch,
    );
  let chosen = chooseSigns(tried.list(), maxSigns);
  if (chosen.length === 0 && tried.alike.length > 0) {
    await tried.lookBeside(reader, readable);
    chosen = chooseSigns(tried.list(), maxSigns);
  }
  const found = chosen.map((sign) => foundSign(sign, readable.length, variety));
  return { signs: found, button, screens: readable.length, others: tried.count };
}

/** Keeps the signs that the matcher finds on each of the screens. */
async function keepHeld(
  reader: Options['reader'],
  signs: readonly PossibleSign[],
  screens: readonly Uint8Array[],
): Promise<PossibleSign[]> {
  const conditions = signs.map(({ condition }) => condition);
  const held = await reader.test(conditions, screens);
  return signs.filter((_, index) => held.every((screen) => screen?.held.includes(index) === true));
}

/** Tries signs on other screens and collects the screens on which each sign holds. */
class Trial {
  readonly #signs: { sign: PossibleSign; elsewhere: Set<number> }[];
  readonly #prints: ReadonlySet<string>;
  /** Other screens on which all signs hold. */
  readonly alike: { tree: Uint8Array; position: number }[] = [];
  count = 0;

  /** Creates a trial. `prints` are those of the group's own screens, which others may have saved, too. */
  constructor(signs: readonly PossibleSign[], prints: ReadonlySet<string>) {
    this.#signs = signs.map((sign) => ({ sign, elsewhere: new Set<number>() }));
    this.#prints = prints;
  }

  add(screens: Awaited<ReturnType<SignReader['test']>>, trees: readonly Uint8Array[]): void {
    for (const [index, screen] of screens.entries()) {
      if (screen === null || this.#prints.has(screen.print)) continue;
      const position = this.count;
      this.count += 1;
      for (const held of screen.held) this.#signs[held]?.elsewhere.add(position);
      const tree = trees[index];
      if (tree !== undefined && screen.held.length === this.#signs.length && this.alike.length <= maxAlike)
        this.alike.push({ tree, position });
    }
  }

  list(): TriedSign[] {
    return this.#signs.map(({ sign, elsewhere }) => ({ ...sign, elsewhere }));
  }

  /**
   * Adds conditions that an ID is absent. The candidates are IDs that all screens have which no condition could
   * distinguish.
   */
  async lookBeside(reader: Options['reader'], own: readonly Uint8Array[]): Promise<void> {
    if (this.alike.length > maxAlike) return;
    const { signs } = await reader.list(
      this.alike.map(({ tree }) => tree),
      maxTried,
    );
    const absent = await keepHeld(reader, absentSigns(signs), own);
    const alike = new Set(this.alike.map(({ position }) => position));
    const all = Array.from({ length: this.count }, (_, position) => position);
    // Other screens were not tested for such an ID, so none of them counts for the sign. An absent ID is no sign by
    // itself either, because screens that were not saved lack it, too.
    const elsewhere = new Set([anyOther, ...all.filter((position) => !alike.has(position))]);
    for (const sign of absent) this.#signs.push({ sign, elsewhere });
  }
}

function foundSign({ parts }: ChosenSign, screens: number, variety: Variety): FoundSign {
  const conditions = parts.map(({ condition }) => condition);
  const fragile: Record<SignFragility, boolean> = {
    opaque_id: conditions.some((one) => 'id' in one && isOpaqueId(one.id)),
    text: conditions.some(({ by }) => by === 'text'),
    one_language:
      variety.languages < 2 && conditions.some((one) => one.by === 'text' && one.texts.length === 1),
    one_app_version: variety.appVersions === 1,
    seen_once: screens === 1,
  };
  return { conditions, fragile: signFragilities.filter((name) => fragile[name]) };
}

/** Condition with the positions of the other screens on which it holds. */
interface TriedSign extends PossibleSign {
  readonly elsewhere: ReadonlySet<number>;
}

/** Sign whose conditions hold together on no other screen. */
interface ChosenSign {
  readonly parts: readonly TriedSign[];
  readonly cost: number;
}

const pairCost = 15;
const tripleCost = 35;
/**
 * Extra cost of a sign of common conditions only. It is not specific enough once the app has a screen that was not
 * saved.
 */
const commonAloneCost = 40;
/** Maximum number of conditions that are combined in threes. */
const maxInTriples = 30;

/**
 * Chooses the cheapest signs of one to three conditions that hold on no other screen. No sign has a redundant
 * condition.
 */
function chooseSigns(tried: readonly TriedSign[], maxCount: number): ChosenSign[] {
  const alone = tried.filter(({ elsewhere }) => elsewhere.size === 0);
  const rest = tried.filter(({ elsewhere }) => elsewhere.size > 0);
  const pairs = combine(
    rest,
    rest.map((part) => [part]),
  );
  const open = combine(rest.slice(0, maxInTriples), pairsOf(rest.slice(0, maxInTriples)));
  return [...alone.map((part) => [part]), ...pairs, ...open]
    .map((parts) => ({ parts, cost: costOf(parts) }))
    .toSorted((one, other) => one.cost - other.cost)
    .slice(0, maxCount);
}

function costOf(parts: readonly TriedSign[]): number {
  const sum = parts.reduce((total, { cost }) => total + cost, 0);
  const extra = [0, 0, pairCost, tripleCost][parts.length] ?? tripleCost;
  return sum + extra + (parts.every(({ isCommon }) => isCommon) ? commonAloneCost : 0);
}

/** Returns the pairs that hold together on another screen. */
const pairsOf = (signs: readonly TriedSign[]): TriedSign[][] =>
  signs.flatMap((one, index) =>
    signs
      .slice(index + 1)
      .filter((other) => shared(one.elsewhere, [other]).length > 0)
      .map((other) => [one, other]),
  );

/** Extends each combination by one later condition, provided that they hold together on no other screen. */
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

/** Whether all conditions are needed: no two of three are enough. */
const needsAll = (parts: readonly TriedSign[], added: TriedSign): boolean =>
  parts.length < 2 || parts.every((part) => shared(part.elsewhere, [added]).length > 0);

const program = fileURLToPath(new URL('process/main.ts', import.meta.url));
/** Budget for up to 50 trees. */
const budget = { processorMs: 10_000 };

/** Result for a tried screen; null when its tree cannot be read. */
type TriedScreen = { readonly print: string; readonly held: readonly number[] } | null;

/** Finds signs on saved screens in a confined process. */
export class SignReader {
  readonly #process: OnDemandProcess<ToProcess, FromProcess>;

  constructor(confinement: Confinement) {
    this.#process = new OnDemandProcess({ confinement, program, maxHeapMb: 384, isReply: isFromProcess });
  }

  /** Lists the conditions that hold on all of the screens, and the button that closes them. */
  async list(
    trees: readonly Uint8Array[],
    maxCount: number,
  ): Promise<{ signs: PossibleSign[]; button: SignCondition | null; prints: (string | null)[] }> {
    const reply = await this.#ask({ kind: 'list', trees, maxCount });
    return reply?.kind === 'listed' ? reply : { signs: [], button: null, prints: trees.map(() => null) };
  }

  /** Tests which of the conditions hold on each screen. */
  async test(conditions: readonly SignCondition[], trees: readonly Uint8Array[]): Promise<TriedScreen[]> {
    const reply = await this.#ask({ kind: 'test', conditions: conditions.map(asSent), trees });
    return reply?.kind === 'tested' ? reply.screens : trees.map(() => null);
  }

  /**
   * Asks the process. Returns undefined when a screen has broken it. Rejects with `ConfinedProcessEnded` when no
   * process could be started.
   */
  async #ask(question: ToProcess): Promise<FromProcess | undefined> {
    try {
      return await this.#process.ask(question, budget);
    } catch (error) {
      if (!(error instanceof ConfinedProcessEnded) || error.reason === 'not_started') throw error;
      return undefined;
    }
  }

  close(): Promise<void> {
    return this.#process.close();
  }
}
