const maxTextLength = 10_000;

/** The text of an EditText and its caret, counted in Unicode characters. */
export class TextField {
  readonly password: boolean;
  readonly multiline: boolean;
  readonly maxLength = maxTextLength;
  #characters: string[] = [];
  #caret = 0;

  constructor(options: { password?: boolean | undefined; multiline?: boolean | undefined } = {}) {
    this.password = options.password ?? false;
    this.multiline = options.multiline ?? false;
  }

  get text(): string {
    return this.#characters.join('');
  }

  /** What the screen and the accessibility tree show: dots for a password. */
  get shownText(): string {
    return this.password ? '•'.repeat(this.#characters.length) : this.text;
  }

  get caret(): number {
    return this.#caret;
  }

  setText(text: string): void {
    this.#characters = Array.from(text).slice(0, maxTextLength);
    this.#caret = this.#characters.length;
  }

  insert(text: string): void {
    const added = Array.from(text).slice(0, maxTextLength - this.#characters.length);
    this.#characters.splice(this.#caret, 0, ...added);
    this.#caret += added.length;
  }

  deleteBefore(): void {
    if (this.#caret === 0) return;
    this.#caret -= 1;
    this.#characters.splice(this.#caret, 1);
  }

  deleteAfter(): void {
    this.#characters.splice(this.#caret, 1);
  }

  moveCaret(by: number): void {
    this.#caret = Math.min(Math.max(this.#caret + by, 0), this.#characters.length);
  }
}
