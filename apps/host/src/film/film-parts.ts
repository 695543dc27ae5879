import { type FilmPartAbout, maxCaptureBytes, maxFilmParts } from '@phalanx/protocol';

/** Part of a film before it is numbered. */
export type FilmPart = Omit<FilmPartAbout, 'number'>;

interface FilmPartsOptions {
  /** Stores a part for the server. Returns false when it can't be stored now. */
  keep: (about: FilmPartAbout, content: Buffer) => Promise<boolean>;
  /** Maximum size of the whole film, in bytes. */
  maxBytes: number;
}

/** Stored pictures and videos of one film, numbered from 1. */
export class FilmParts {
  readonly #options: FilmPartsOptions;
  #count = 0;
  #usedBytes = 0;
  /** Resolves when the last part is stored. Parts are stored one after the other because they are numbered in order. */
  #keeping: Promise<boolean> = Promise.resolve(true);

  constructor(options: FilmPartsOptions) {
    this.#options = options;
  }

  /** Free share of the film, from 1 (empty) to 0 (full). */
  get room(): number {
    return 1 - Math.max(this.#usedBytes / this.#options.maxBytes, this.#count / maxFilmParts);
  }

  get freeBytes(): number {
    return this.#count < maxFilmParts ? this.#options.maxBytes - this.#usedBytes : 0;
  }

  /** Returns false when the film has no room for the part, or when the part can't be stored now. */
  keep(part: FilmPart, content: Buffer): Promise<boolean> {
    const keeping = this.#keeping.then(() => this.#keepNext(part, content));
    this.#keeping = keeping.catch(() => false);
    return keeping;
  }

  async #keepNext(part: FilmPart, content: Buffer): Promise<boolean> {
    const { byteLength } = content;
    if (byteLength > Math.min(maxCaptureBytes, this.freeBytes)) return false;
    const number = this.#count + 1;
    if (!(await this.#options.keep({ number, ...part }, content))) return false;
    this.#count = number;
    this.#usedBytes += byteLength;
    return true;
  }
}
