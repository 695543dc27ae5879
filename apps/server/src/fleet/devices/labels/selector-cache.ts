import { isSelected, parseSelector, type SelectablePhone, type SelectorTerm } from '@phalanx/protocol';
import { boundedCache } from '../../../kernel/bounded-cache.ts';
import type { FleetDevice } from '../fleet-device.ts';

/** Maximum number of cached parsed selectors; a selector of 1000 characters takes about 20 KB. */
const maxSelectors = 2000;
const maxPhones = 20_000;
/** Maximum number of cached decisions, about 30 MB; beyond that, the whole cache is cleared. */
const maxDecisions = 500_000;

/** Name and labels of a phone or a host. A change replaces the object. */
export interface LabelSet {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** Facts that decide whether a phone is selected. */
interface PhoneFacts {
  readonly device: Pick<FleetDevice, 'serial' | 'stored' | 'state'>;
  readonly own: LabelSet;
  readonly ofHost: LabelSet;
}

interface KnownPhone extends PhoneFacts {
  readonly phone: SelectablePhone;
}

/** Caches the terms of each selector text, and the decision for each phone until the phone or its labels change. */
export class SelectorCache {
  readonly #parsed = boundedCache<readonly SelectorTerm[]>(maxSelectors);
  readonly #phones = boundedCache<KnownPhone>(maxPhones);
  #decided = new WeakMap<readonly SelectorTerm[], WeakMap<SelectablePhone, boolean>>();
  #decisions = 0;

  /** Returns the same array for the same text. Throws a `SelectorProblem`. */
  parse(text: string): readonly SelectorTerm[] {
    return this.remember(text, () => parseSelector(text));
  }

  /** Returns the cached terms of a key, always as the same array. The key may combine a selector with its pools. */
  remember(key: string, make: () => readonly SelectorTerm[]): readonly SelectorTerm[] {
    const known = this.#parsed.get(key);
    if (known !== undefined) return known;
    const terms = make();
    this.#parsed.set(key, terms);
    return terms;
  }

  /** Whether all terms match. Pools must have been replaced by their terms. */
  selects(terms: readonly SelectorTerm[], id: string, facts: PhoneFacts): boolean {
    const phone = this.#phoneOf(id, facts);
    const known = this.#decided.get(terms)?.get(phone);
    if (known !== undefined) return known;
    const selected = isSelected(terms, phone);
    this.#remember(terms, phone, selected);
    return selected;
  }

  #remember(terms: readonly SelectorTerm[], phone: SelectablePhone, selected: boolean): void {
    if (this.#decisions >= maxDecisions) [this.#decided, this.#decisions] = [new WeakMap(), 0];
    this.#decisions += 1;
    const ofTerms = this.#decided.get(terms) ?? new WeakMap<SelectablePhone, boolean>();
    this.#decided.set(terms, ofTerms.set(phone, selected));
  }

  #phoneOf(id: string, facts: PhoneFacts): SelectablePhone {
    const known = this.#phones.get(id);
    if (known !== undefined && areSame(known, facts)) return known.phone;
    const phone = selectable(id, facts);
    this.#phones.set(id, { ...facts, phone });
    return phone;
  }
}

const compared = ['brand', 'model', 'android_version', 'sdk_version', 'host_id', 'host_name'] as const;

const areSame = (one: PhoneFacts, other: PhoneFacts): boolean =>
  one.own === other.own &&
  one.ofHost === other.ofHost &&
  one.device.state === other.device.state &&
  one.device.serial === other.device.serial &&
  (one.device.stored === other.device.stored ||
    compared.every((name) => one.device.stored[name] === other.device.stored[name]));

function selectable(id: string, { device, own, ofHost }: PhoneFacts): SelectablePhone {
  const { brand, model, android_version, sdk_version, host_id, host_name } = device.stored;
  return {
    device_id: id,
    serial: device.serial,
    name: own.name,
    // Labels of the phone override those of its host.
    labels: { ...ofHost.labels, ...own.labels },
    brand,
    model,
    android_version,
    sdk_version,
    host: { id: host_id, name: host_name },
    state: device.state,
  };
}
