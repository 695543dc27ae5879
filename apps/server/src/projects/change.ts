import type { SavedFiles, SavedState } from './saved-state.ts';

/** What is to become of a project; stored as a whole when the work that makes it has ended. */
export class Change {
  /** What is changed. */
  readonly state: SavedState;
  readonly refs = new Map<string, string | undefined>();
  readonly #findRef: (name: string) => Promise<string | undefined>;
  #saved: SavedFiles | undefined;

  constructor(state: SavedState, findRef: (name: string) => Promise<string | undefined>) {
    this.state = state;
    this.#findRef = findRef;
  }

  get saved(): SavedFiles {
    return this.#saved ?? this.state;
  }

  get isEmpty(): boolean {
    const { files, compiled, head } = this.saved;
    const isSame = files === this.state.files && compiled === this.state.compiled && head === this.state.head;
    return isSame && this.refs.size === 0;
  }

  save(next: SavedFiles): void {
    this.#saved = next;
  }

  async findRef(name: string): Promise<string | undefined> {
    return this.refs.has(name) ? this.refs.get(name) : this.#findRef(name);
  }

  /** Undefined takes it away. */
  setRef(name: string, target: string | undefined): void {
    this.refs.set(name, target);
  }
}
