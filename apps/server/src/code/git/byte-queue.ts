const newline = 0x0a;

/** Queue of received bytes, which are taken by line or by count. */
export class ByteQueue {
  #chunks: Buffer[] = [];
  #length = 0;

  push(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
  }

  /** Takes a line without its newline. Undefined until the whole line has arrived. */
  takeLine(): Buffer | undefined {
    let before = 0;
    for (const chunk of this.#chunks) {
      const at = chunk.indexOf(newline);
      if (at !== -1) return this.take(before + at + 1)?.subarray(0, -1);
      before += chunk.length;
    }
    return undefined;
  }

  /**
   * Takes `count` bytes. Undefined until they have arrived. Copies them at most once, regardless of the number of
   * chunks.
   */
  take(count: number): Buffer | undefined {
    if (this.#length < count) return undefined;
    const first = this.#chunks[0];
    if (first !== undefined && first.length > count) {
      this.#chunks[0] = first.subarray(count);
      this.#length -= count;
      return first.subarray(0, count);
    }
    const all = this.#chunks.length === 1 && first !== undefined ? first : Buffer.concat(this.#chunks);
    this.#chunks = all.length > count ? [all.subarray(count)] : [];
    this.#length -= count;
    return all.subarray(0, count);
  }
}
