import { comparedText } from '@phalanx/automation/seen-text';
import type { ScreenMask, UiNode } from '@phalanx/protocol';

import { findNode } from '../find-node.ts';

/** Hides what shows a part of a secret, in one app. */
export interface SecretMask {
  readonly packageName: string;
  /** All parts of this length that the secret has. */
  readonly parts: ReadonlySet<string>;
}

export type HeldMask = ScreenMask | SecretMask;

interface MaskHolder {
  /** Returns how to let go. */
  hold(masks: readonly HeldMask[]): () => void;
}

/** The shortest secret. Shorter parts stand in too many other texts of the window. */
const partLength = 4;

/** Separators that apps put between the digits of a number, what nobody sees, and letter case hide no part. */
const plain = (text: string): string => comparedText(text).replaceAll(/[ .,/_-]/g, '');

const partsOf = (text: string): string[] =>
  Array.from({ length: Math.max(0, text.length - partLength + 1) }, (_, at) =>
    text.slice(at, at + partLength),
  );

/** Takes time in proportion to the text, however long the secret is. */
export const showsPart = (text: string | null, { parts }: SecretMask): boolean =>
  text !== null &&
  (partsOf(comparedText(text)).some((part) => parts.has(part)) ||
    partsOf(plain(text)).some((part) => parts.has(part)));

/** Fields of apps that never come to the front again. */
const maxStanding = 100;

export interface TypedSecret {
  readonly secret: string;
  /** The user who typed it, as `HostTouch.by` says it; undefined: not known. */
  readonly by: string | undefined;
}

interface Standing extends Pick<TypedSecret, 'by'> {
  readonly field: UiNode;
  readonly letGo: () => void;
  /** It was seen with a text since. */
  isFilled: boolean;
}

/** The fields of one phone into which a secret was typed: hidden, whatever they show, until they are empty or gone. */
export class TypedSecrets {
  readonly #masks: MaskHolder;
  readonly #standing = new Set<Standing>();

  constructor(masks: MaskHolder) {
    this.#masks = masks;
  }

  /** To be called before the secret is typed into that field. */
  add(field: UiNode, { secret, by }: TypedSecret): void {
    const { packageName, viewId, className } = field;
    // Fields without an ID can't be told from each other: all of the window are hidden.
    const node: ScreenMask =
      viewId === null ? { packageName, className: className ?? '' } : { packageName, viewId };
    const parts = new Set([...partsOf(comparedText(secret)), ...partsOf(plain(secret))]);
    const letGo = this.#masks.hold([node, { packageName, parts }]);
    this.#standing.add({ field, by, letGo, isFilled: false });
    const [oldest] = this.#standing;
    if (this.#standing.size > maxStanding && oldest !== undefined) this.#end(oldest);
  }

  /** The apps in which a secret of somebody else than `by` stands, as far as the screen was read. */
  appsOfOthers(by: string): ReadonlySet<string> {
    const others = [...this.#standing].filter((one) => one.by !== undefined && one.by !== by);
    return new Set(others.map(({ field }) => field.packageName ?? ''));
  }

  /** Notes what an app shows now, with all its texts. */
  noteTree(root: UiNode): void {
    for (const standing of this.#standing) {
      const { field } = standing;
      if (root.packageName !== field.packageName) continue;
      const found = findNode(root, (node) => isSame(node, field));
      const isEmpty = found === undefined || isBare(found);
      standing.isFilled ||= !isEmpty;
      if (found !== undefined && !(isEmpty && standing.isFilled)) continue;
      this.#end(standing);
    }
  }

  #end(standing: Standing): void {
    this.#standing.delete(standing);
    standing.letGo();
  }
}

const isSame = (node: UiNode, field: UiNode): boolean =>
  node.packageName === field.packageName &&
  node.viewId === field.viewId &&
  (field.viewId !== null || (node.className === field.className && !isBare(node)));

const isBare = ({ text, hintText }: UiNode): boolean => text === null || text === '' || text === hintText;
