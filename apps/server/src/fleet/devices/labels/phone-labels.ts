import { Labels, poolKey, SelectorProblem, type SelectorTerm } from '@phalanx/protocol';
import { Compile } from 'typebox/compile';
import { targetKey } from '../device-shares.ts';
import type { FleetDevice } from '../fleet-device.ts';
import { nameKey } from '../../../storage/db/dialect.ts';
import { type LabelSet, SelectorCache } from './selector-cache.ts';
import type { LabelStore, LabelTarget, StoredLabelSet, StoredPool } from './store.ts';
import { ApiError } from '../../../kernel/errors/api-error.ts';
import { Reloading } from '../../../kernel/reloading.ts';

type LabelledDevice = Pick<FleetDevice, 'id' | 'ownerId' | 'stored'>;

const validator = Compile(Labels);
const none: LabelSet = { name: '', labels: {} };

const setOf = ({ name, labels }: StoredLabelSet): LabelSet => ({
  name,
  labels: validator.Parse(JSON.parse(labels)),
});
const poolKeyOf = ({ user_id, name_key }: Pick<StoredPool, 'user_id' | 'name_key'>): string =>
  `${user_id} ${name_key}`;

/** Cache of names, labels and pools, because every view of a phone and every selector reads them. */
export class PhoneLabels {
  readonly #store: LabelStore;
  #sets = new Map<string, LabelSet>();
  #pools = new Map<string, StoredPool>();
  readonly #selectors = new SelectorCache();
  readonly #reloading = new Reloading();
  #listeners: (() => void)[] = [];

  constructor(store: LabelStore) {
    this.#store = store;
  }

  /** Loads the rows. Call it at startup, and when another server may have changed something. */
  async load(): Promise<void> {
    await this.#reloading.reload(
      async () => ({ sets: await this.#store.listSets(), pools: await this.#store.listPools() }),
      ({ sets, pools }) => {
        this.#sets = new Map(sets.map((row) => [targetKey(row), setOf(row)]));
        this.#pools = new Map(pools.map((row) => [poolKeyOf(row), row]));
      },
    );
    this.#notify();
  }

  /** Registers a listener for changes after which selectors may select other phones. */
  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }

  nameOf(device: LabelledDevice): string {
    return this.#ofDevice(device).name;
  }

  /** Returns the labels of the phone, which override those of its host. */
  labelsOf(device: LabelledDevice): Labels {
    return { ...this.#ofHost(device).labels, ...this.#ofDevice(device).labels };
  }

  /** Parses a selector. A pool of the user stands for its current selector. Throws a `SelectorProblem`. */
  readSelector(userId: string, selector: string): readonly SelectorTerm[] {
    const terms = this.#selectors.parse(selector);
    const pools = terms.flatMap((term) => (term.key === poolKey ? this.#getPool(userId, term).selector : []));
    if (pools.length === 0) return terms;
    return this.#selectors.remember(JSON.stringify([selector, ...pools]), () => {
      const ofPools = pools.values();
      return terms.flatMap((term) =>
        term.key === poolKey ? this.#selectors.parse(ofPools.next().value ?? '') : term,
      );
    });
  }

  /** Whether the selector matches the phone, in the state that its host reported. */
  selects(terms: readonly SelectorTerm[], device: FleetDevice): boolean {
    const facts = { device, own: this.#ofDevice(device), ofHost: this.#ofHost(device) };
    return this.#selectors.selects(terms, device.id, facts);
  }

  async rename(target: LabelTarget, name: string): Promise<void> {
    this.#note(await this.#store.putName(target, name));
  }

  async putLabels(target: LabelTarget, labels: Labels): Promise<void> {
    this.#note(await this.#store.putLabels(target, JSON.stringify(labels)));
  }

  /** Deletes the name and the labels of a target. Call it when the target is deleted. */
  async forget(target: LabelTarget): Promise<void> {
    await this.#store.deleteSet(target);
    this.#reloading.noteChange();
    this.#sets.delete(targetKey(target));
  }

  /** Lists the pools of the user, ordered by name. */
  listPools(userId: string): StoredPool[] {
    const own = [...this.#pools.values()].filter((pool) => pool.user_id === userId);
    return own.toSorted((one, other) => (one.name_key < other.name_key ? -1 : 1));
  }

  findPool(userId: string, name: string): StoredPool | undefined {
    return this.#pools.get(poolKeyOf({ user_id: userId, name_key: nameKey(name) }));
  }

  /** Stores a pool. Returns false when the user has reached the maximum number of pools. */
  async putPool(pool: StoredPool, max: number): Promise<boolean> {
    if (!(await this.#store.putPool(pool, max))) return false;
    this.#reloading.noteChange();
    this.#pools.set(poolKeyOf(pool), pool);
    this.#notify();
    return true;
  }

  async deletePool(userId: string, name: string): Promise<boolean> {
    const key = { user_id: userId, name_key: nameKey(name) };
    const isDeleted = await this.#store.deletePool(userId, key.name_key);
    this.#reloading.noteChange();
    this.#pools.delete(poolKeyOf(key));
    return isDeleted;
  }

  #note(row: StoredLabelSet): void {
    this.#reloading.noteChange();
    this.#sets.set(targetKey(row), setOf(row));
    this.#notify();
  }

  #notify(): void {
    for (const listener of this.#listeners) listener();
  }

  #ofDevice({ id, ownerId }: LabelledDevice): LabelSet {
    return this.#find({ owner_id: ownerId, kind: 'device', target_id: id });
  }

  #ofHost({ ownerId, stored }: LabelledDevice): LabelSet {
    return this.#find({ owner_id: ownerId, kind: 'host', target_id: stored.host_id.toLowerCase() });
  }

  #getPool(userId: string, { operator, values }: SelectorTerm): StoredPool {
    const [name = ''] = values;
    if (operator !== '=' || values.length > 1) throw new SelectorProblem('it names one pool as pool=NAME');
    const pool = this.findPool(userId, name);
    if (pool === undefined) throw new SelectorProblem(`you have no pool "${name}"`);
    return pool;
  }

  #find(target: LabelTarget): LabelSet {
    return this.#sets.get(targetKey(target)) ?? none;
  }
}

/** Parses a selector. A pool of the user stands for its current selector. Throws `invalid_selector`. */
export function readSelector(labels: PhoneLabels, userId: string, selector: string): readonly SelectorTerm[] {
  try {
    return labels.readSelector(userId, selector);
  } catch (error) {
    if (!(error instanceof SelectorProblem)) throw error;
    throw ApiError.of('invalid_selector', { selector, problem: error.message });
  }
}

/** Whether the selector matches the phone, in the state that its host reported. */
export const selects = (labels: PhoneLabels, terms: readonly SelectorTerm[], device: FleetDevice): boolean =>
  labels.selects(terms, device);
