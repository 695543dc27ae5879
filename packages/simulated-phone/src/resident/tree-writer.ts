import { crc32, deflateRawSync } from 'node:zlib';
import { accessibilityFlags } from '../screen/attributes.ts';
import { inputTypeOf, webPage } from '../screen/source-xml.ts';
import type { VisibleView, View } from '../view/view.ts';

/** Writes numbers with seven bits per byte, and texts as indexes of a table that both sides build incrementally. */
export class TreeWriter {
  readonly #bytes: number[] = [];
  readonly #texts = new Map<string, number>();

  number(value: number): void {
    let rest = value >>> 0;
    for (; rest > 127; rest >>>= 7) this.#bytes.push((rest & 127) | 128);
    this.#bytes.push(rest);
  }

  signed(value: number): void {
    this.number((value << 1) ^ (value >> 31));
  }

  text(value: string | undefined): void {
    if (value === undefined) return this.number(0);
    const known = this.#texts.get(value);
    if (known !== undefined) return this.number(known);
    this.#texts.set(value, this.#texts.size + 1);
    this.number(this.#texts.size);
    // Java writes `?` for an unpaired surrogate (String.getBytes).
    const utf8 = Buffer.from(value.replaceAll(/\p{Cs}/gu, '?'));
    this.number(utf8.length);
    for (const byte of utf8) this.#bytes.push(byte);
  }

  /** Writes a node and its descendants; `origin` is the corner of its parent. */
  node(
    { view, bounds, children }: VisibleView,
    hasWebPages: boolean,
    origin: { readonly left: number; readonly top: number } = { left: 0, top: 0 },
  ): void {
    this.signed(bounds.left - origin.left);
    this.signed(bounds.top - origin.top);
    this.signed(bounds.right - bounds.left);
    this.signed(bounds.bottom - bounds.top);
    for (const text of [view.className, view.packageName, view.resourceId, view.text, view.description])
      this.text(text);
    const { field } = view;
    this.number(flagsOf(view));
    if (view.hint !== undefined) this.text(view.hint);
    if (field) {
      this.number(inputTypeOf(field));
      this.signed(field.maxLength);
    }
    const shown = !hasWebPages && view.className === webPage ? [] : children;
    this.number(shown.length);
    for (const child of shown) {
      this.number(1);
      this.node(child, hasWebPages, bounds);
    }
  }

  finish(): { readonly digest: string; readonly packed: Buffer } {
    const bytes = Buffer.from(this.#bytes);
    const length = Buffer.alloc(4);
    length.writeUInt32BE(bytes.length);
    return {
      digest: `${crc32(bytes)} ${bytes.length}`,
      packed: Buffer.concat([length, deflateRawSync(bytes, { level: 1 })]),
    };
  }
}

/** Returns the flags in the order of their bits. */
function flagsOf(view: View): number {
  const flags = accessibilityFlags(view);
  return [
    flags.checkable,
    flags.checked,
    flags.clickable,
    flags.enabled,
    flags.focusable,
    flags.focused,
    flags.longClickable,
    flags.password,
    flags.scrollable,
    flags.selected,
    true,
    view.field !== undefined && view.field.text === '' && view.hint !== undefined,
    view.hint !== undefined,
    false,
    false,
    false,
    view.field !== undefined,
  ].reduce((bits, isSet, bit) => bits | (isSet ? 1 << bit : 0), 0);
}
