import { comparedText } from '@phalanx/automation/seen-text';
import type { NodeMask, UiNode } from '@phalanx/protocol';

type Texts = Pick<UiNode, 'text' | 'description'>;

/** Condition of a mask on a text. */
interface Asked {
  readonly of: keyof Texts;
  /** Text as given in the mask. */
  readonly given: string;
  /** Normalized text; empty when the mask has only invisible characters. */
  readonly compared: string;
  readonly isWhole: boolean;
}

/**
 * Maximum length of a part that is compared, so texts with the same beginning are hidden too. The search takes time in
 * the product of both lengths (see `searchText`): a hundred parts of 500 letters took 18 seconds in one node of
 * 100,000.
 */
const maxPartLength = 200;

const askedBy = new WeakMap<NodeMask, readonly Asked[]>();

function askedOf(mask: NodeMask): readonly Asked[] {
  const known = askedBy.get(mask);
  if (known !== undefined) return known;
  const asked = [
    ...ask('text', mask.text, true),
    ...ask('text', mask.textContains, false),
    ...ask('description', mask.description, true),
    ...ask('description', mask.descriptionContains, false),
  ];
  askedBy.set(mask, asked);
  return asked;
}

function ask(of: keyof Texts, given: string | undefined, isWhole: boolean): Asked[] {
  if (given === undefined) return [];
  const compared = comparedText(given);
  return [{ of, given, compared: isWhole ? compared : compared.slice(0, maxPartLength), isWhole }];
}

/** Texts of a node in the form that masks compare. Normalizes a text once for all masks, and only on demand. */
export class MaskedTexts {
  readonly #texts: Texts;
  readonly #compared = new Map<keyof Texts, string>();

  constructor(texts: Texts) {
    this.#texts = texts;
  }

  meet(mask: NodeMask): boolean {
    return askedOf(mask).every((asked) => this.#meets(asked));
  }

  #meets({ of, given, compared, isWhole }: Asked): boolean {
    // An invisible text would be contained in every other text.
    const [text, wanted] =
      compared === '' ? [this.#texts[of] ?? '', given] : [this.#comparedOf(of), compared];
    return isWhole ? text === wanted : text.includes(wanted);
  }

  #comparedOf(name: keyof Texts): string {
    const text = this.#compared.get(name) ?? comparedText(this.#texts[name] ?? '');
    this.#compared.set(name, text);
    return text;
  }
}
