/** Maximum bytes of code per step. An honest host sends less for all steps of a question. */
const maxStepBytes = 20 * 1024;
const maxActBytes = 64 * 1024;

const leftOut = `// The rest of this act was left out: an act has room for ${maxActBytes / 1024} KB of code.`;

/** Collects the code that a host reports for an act, up to the size limits. */
export class KeptCode {
  readonly #lines: string[] = [];
  #leftBytes = maxActBytes;
  #isCut = false;

  /** Adds lines of code. `steps`: number of steps that ended in the same answer. */
  add(lines: readonly string[], steps: number): void {
    let stepBytes = maxStepBytes * Math.max(1, steps);
    for (const line of lines) {
      const sizeBytes = Buffer.byteLength(line) + 1;
      stepBytes -= sizeBytes;
      this.#leftBytes -= sizeBytes;
      this.#isCut ||= stepBytes < 0 || this.#leftBytes < 0;
      // Code with a missing line in the middle would do something else.
      if (this.#isCut) return;
      this.#lines.push(line);
    }
  }

  list(): string[] {
    return this.#isCut ? [...this.#lines, leftOut] : this.#lines;
  }
}
