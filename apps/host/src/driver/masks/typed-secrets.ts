import type { ScreenMask, UiNode } from '@phalanx/protocol';

import { maskOfSecret, type SecretMask } from './secret-parts.ts';
import { TypedField } from './typed-field.ts';
import { minuteMs } from '@phalanx/timing/durations';

export type HeldMask = ScreenMask | SecretMask | TypedField;

interface MaskHolder {
  /** Holds masks. Returns the release. */
  hold(masks: readonly HeldMask[]): () => void;
}

/** Maximum number of fields per user, for apps that never come to the front again. */
const maxStanding = 100;
/** Time in ms after which a field out of view no longer keeps other users from the app. */
const keptFromOthersMs = 10 * minuteMs;

export interface TypedSecret {
  readonly secret: string;
  /** User who typed the secret, as in `HostTouch.by`; undefined when unknown. */
  readonly by: string | undefined;
}

interface Standing extends Pick<TypedSecret, 'by'> {
  readonly field: TypedField;
  readonly letGo: () => void;
}

/**
 * Fields of one phone into which a secret was typed. They stay hidden, whatever they show, until they are seen empty. A
 * field out of view, behind a dialog or at the other end of a list, comes back with its text.
 */
export class TypedSecrets {
  readonly #masks: MaskHolder;
  readonly #standing = new Set<Standing>();

  constructor(masks: MaskHolder) {
    this.#masks = masks;
  }

  /** Adds a field; call it before the secret is typed into that field. */
  add(node: UiNode, { secret, by }: TypedSecret): void {
    const field = new TypedField(node);
    const letGo = this.#masks.hold([field, maskOfSecret(node.packageName, secret)]);
    this.#standing.add({ field, by, letGo });
    const own = [...this.#standing].filter((one) => one.by === by);
    if (own.length > maxStanding && own[0] !== undefined) this.#end(own[0]);
  }

  /** Whether an app may show a secret of another user than `by`. Reading the app's screen updates this. */
  areOfOthers(by: string): boolean {
    return this.#ofOthers(by).some(({ field }) => field.wasSeenWithin(keptFromOthersMs));
  }

  /** Returns the apps in which such a secret is in view, as of the last reading of the screen. */
  appsOfOthers(by: string): ReadonlySet<string> {
    const inView = this.#ofOthers(by).filter(({ field }) => field.isSeen);
    return new Set(inView.map(({ field }) => field.packageName));
  }

  #ofOthers(by: string): Standing[] {
    return [...this.#standing].filter((one) => one.by !== undefined && one.by !== by);
  }

  /** Notes what an app shows now, with unmasked texts. */
  noteTree(root: UiNode): void {
    for (const standing of this.#standing)
      if (root.packageName === standing.field.packageName && standing.field.noteTree(root))
        this.#end(standing);
  }

  #end(standing: Standing): void {
    this.#standing.delete(standing);
    standing.letGo();
  }
}
