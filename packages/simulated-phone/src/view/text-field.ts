const maxTextLength = 10_000;

/** Options of an app's EditText. */
export interface FieldOptions {
  /** Whether the field shows dots. Default: false. */
  readonly password?: boolean | undefined;
  /** Whether the field accepts line breaks. Default: false. */
  readonly multiline?: boolean | undefined;
  /** Filters a new text, like an InputFilter or a TextWatcher. Default: keeps all of it. */
  readonly edit?: ((text: string, before: string) => string) | undefined;
  /** Called with each new text, like a TextWatcher. */
  readonly onChange?: ((text: string) => void) | undefined;
}

/** Text of an EditText and its caret, counted in Unicode characters. */
export class TextField {
  readonly password: boolean;
  readonly multiline: boolean;
  readonly maxLength = maxTextLength;
  readonly #edit: (text: string, before: string) => string;
  readonly #onChange: (text: string) => void;
  #characters: string[] = [];
  #caret = 0;

  constructor(options: FieldOptions = {}) {
    this.#edit = options.edit ?? ((text) => text);
    this.#onChange = options.onChange ?? (() => {});
    this.password = options.password ?? false;
    this.multiline = options.multiline ?? false;
  }

  get text(): string {
    return this.#characters.join('');
  }

  /** Returns the text on the screen and in the accessibility tree: dots for a password. */
  get shownText(): string {
    return this.password ? '•'.repeat(this.#characters.length) : this.text;
  }

  get caret(): number {
    return this.#caret;
  }

  setText(text: string): void {
    this.#put(text, 0);
  }

  insert(text: string): void {
    const added = Array.from(text).slice(0, maxTextLength - this.#characters.length);
    const behind = this.#characters.length - this.#caret;
    this.#put(this.#characters.toSpliced(this.#caret, 0, ...added).join(''), behind);
  }

  deleteBefore(): void {
    if (this.#caret === 0) return;
    const behind = this.#characters.length - this.#caret;
    this.#put(this.#characters.toSpliced(this.#caret - 1, 1).join(''), behind);
  }

  deleteAfter(): void {
    const behind = Math.max(0, this.#characters.length - this.#caret - 1);
    this.#put(this.#characters.toSpliced(this.#caret, 1).join(''), behind);
  }

  moveCaret(by: number): void {
    this.#caret = Math.min(Math.max(this.#caret + by, 0), this.#characters.length);
  }

  /** Sets the text with the given number of characters behind the caret. */
  #put(text: string, behind: number): void {
    const kept = this.#edit(text, this.text);
    this.#characters = Array.from(kept).slice(0, maxTextLength);
    this.#caret = Math.max(0, this.#characters.length - behind);
    this.#onChange(kept);
  }
}
