import { isSelected, parseSelector, type SelectablePhone, type SelectorTerm } from '@phalanx/protocol';
import { boundedCache } from '../../../kernel/bounded-cache.ts';
import type { FleetDevice } from '../fleet-device.ts';

/** Maximum number of parsed selectors; one of a thousand letters takes some 20 KB. */
const maxSelectors = 2000;
const maxPhones = 20_000;
/** Maximum number of cached decisions, some 30 MB: beyond it, all are forgotten. */
const maxDecisions = 500_000;

/** Name and labels of a phone or a host. Another object when they have changed. */
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

/** Selectors are parsed once for each text, and decided once for each phone until the phone or its labels change. */
export class SelectorCache {
  readonly #parsed = boundedCache<readonly SelectorTerm[]>(maxSelectors);
  readonly #phones = boundedCache<KnownPhone>(maxPhones);
  #decided = new WeakMap<readonly SelectorTerm[], WeakMap<SelectablePhone, boolean>>();
  #decisions = 0;

  /** Returns the same array for the same text. Throws a `SelectorProblem`. */
  parse(text: string): readonly SelectorTerm[] {
    return this.remember(text, () => parseSelector(text));
  }

  /** Returns the same array for the same key, for terms that come of a text and of a pool. */
  remember(key: string, make: () => readonly SelectorTerm[]): readonly SelectorTerm[] {
    const known = this.#parsed.get(key);
    if (known !== undefined) return known;
    const terms = make();
    this.#parsed.set(key, terms);
    return terms;
  }

  /** Whether all terms hold. Pools have been replaced by their terms. */
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
    // Labels of the phone count before those of its host.
    labels: { ...ofHost.labels, ...own.labels },
    brand,
    model,
    android_version,
    sdk_version,
    host: { id: host_id, name: host_name },
    state: device.state,
  };
}
