const newline = 0x0a;

/** Queue of bytes as they arrive, taken out by line or by number. */
export class ByteQueue {
  #chunks: Buffer[] = [];
  #length = 0;

  push(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
  }

  /** Takes a line without its newline. Undefined until it is whole. */
  takeLine(): Buffer | undefined {
    let before = 0;
    for (const chunk of this.#chunks) {
      const at = chunk.indexOf(newline);
      if (at !== -1) return this.take(before + at + 1)?.subarray(0, -1);
      before += chunk.length;
    }
    return undefined;
  }

  /** Takes this many bytes. Undefined until they have arrived. Copies them once at most, whatever their number. */
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
