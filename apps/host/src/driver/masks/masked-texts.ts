import { comparedText } from '@phalanx/automation/seen-text';
import type { NodeMask, UiNode } from '@phalanx/protocol';

type Texts = Pick<UiNode, 'text' | 'description'>;

/** The condition of a mask on a text. */
interface Asked {
  readonly of: keyof Texts;
  /** The text as the mask has it. */
  readonly given: string;
  /** Empty where the mask asks for what can't be seen. */
  readonly compared: string;
  readonly isWhole: boolean;
}

/**
 * More of a part is not compared, so what begins like it is hidden too. A longer one is looked for in the product of both
 * lengths (see `searchText`): a hundred of 500 letters took 18 seconds in one node of 100,000.
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

/** The texts of a node as masks compare them: once for all masks, and only if one asks. */
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
    // A text that can't be seen would be in every other.
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
