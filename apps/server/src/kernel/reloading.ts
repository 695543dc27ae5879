/** Keeps a reload of all rows from undoing changes that came while it read. */
export class Reloading {
  #changes = 0;

  /** Call it with each change of what is reloaded. */
  noteChange(): void {
    this.#changes += 1;
  }

  /** Reads until nothing has changed meanwhile, and hands over what was read last. */
  async reload<Rows>(read: () => Promise<Rows>, take: (rows: Rows) => void): Promise<void> {
    for (;;) {
      const changesBefore = this.#changes;
      const rows = await read();
      if (changesBefore === this.#changes) return take(rows);
    }
  }
}
