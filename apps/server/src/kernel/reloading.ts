/** Keeps a reload of all rows from undoing changes that arrived during the read. */
export class Reloading {
  #changes = 0;

  /** Call it at each change of the rows. */
  noteChange(): void {
    this.#changes += 1;
  }

  /** Reads until no change arrived during a read, and hands over the rows of that read. */
  async reload<Rows>(read: () => Promise<Rows>, take: (rows: Rows) => void): Promise<void> {
    for (;;) {
      const changesBefore = this.#changes;
      const rows = await read();
      if (changesBefore === this.#changes) return take(rows);
    }
  }
}
