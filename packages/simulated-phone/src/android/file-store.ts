export interface StoredFile {
  readonly content: Buffer;
  readonly mode: number;
  readonly modifiedSeconds: number;
}

/** Where a phone's files are kept, by their absolute paths. */
export interface FileStore {
  findFile(path: string): StoredFile | undefined;
  putFile(path: string, file: StoredFile): void;
  removeFile(path: string): void;
  listFiles(): readonly string[];
  hasDirectory(path: string): boolean;
  addDirectory(path: string): void;
  removeDirectory(path: string): void;
  listDirectories(): readonly string[];
}

export class MemoryStore implements FileStore {
  readonly #files = new Map<string, StoredFile>();
  readonly #directories: Set<string>;

  constructor(directories: readonly string[]) {
    this.#directories = new Set(directories);
  }

  findFile(path: string): StoredFile | undefined {
    return this.#files.get(path);
  }

  putFile(path: string, file: StoredFile): void {
    this.#files.set(path, file);
  }

  removeFile(path: string): void {
    this.#files.delete(path);
  }

  listFiles(): readonly string[] {
    return [...this.#files.keys()];
  }

  hasDirectory(path: string): boolean {
    return this.#directories.has(path);
  }

  addDirectory(path: string): void {
    this.#directories.add(path);
  }

  removeDirectory(path: string): void {
    this.#directories.delete(path);
  }

  listDirectories(): readonly string[] {
    return [...this.#directories];
  }
}
