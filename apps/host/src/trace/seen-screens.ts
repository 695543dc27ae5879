import { randomUUID } from 'node:crypto';

import type { ScreenTree } from '@phalanx/protocol';

import { packTree, type PackedTree } from '../records/pack-tree.ts';
import { lookOfTree } from './look-of-tree.ts';

/** The screens of the last steps: more are rarely looked at, and a record has room for 50. */
const maxScreens = 20;
/** Trees are packed only when a record wants them: most never are. So many nodes of a run wait for that. */
const maxNodes = 6000;

/** A screen that an automation has read. */
export interface SeenScreen {
  readonly screenId: string;
  /** Epoch milliseconds on the host's clock, of its first reading. */
  readonly capturedAt: number;
  pack: () => Promise<PackedTree>;
}

interface Kept extends SeenScreen {
  readonly look: string;
  readonly nodes: number;
}

/** The last different screens that the automation of a run has read, as it saw them: masked. */
export class SeenScreens {
  #screens: Kept[] = [];
  #nodes = 0;
  #readings = 0;

  /** How often the automation has read its screen. */
  get readings(): number {
    return this.#readings;
  }

  /** ID of the last one; undefined before the first reading. */
  get currentId(): string | undefined {
    return this.#screens.at(-1)?.screenId;
  }

  /** Oldest first. */
  list(): readonly SeenScreen[] {
    return this.#screens;
  }

  /** The automation has read this tree. */
  read(tree: ScreenTree): void {
    this.#readings += 1;
    this.see(tree);
  }

  /** Returns the ID of the screen: the one before, when nothing has changed. */
  see(tree: ScreenTree): string {
    const look = lookOfTree(tree.root);
    const last = this.#screens.at(-1);
    if (last?.look === look) return last.screenId;
    const { capturedAt } = tree;
    const screen = { screenId: randomUUID(), capturedAt, look, nodes: countNodes(tree), pack: packOf(tree) };
    this.#screens.push(screen);
    this.#nodes += screen.nodes;
    while (this.#screens.length > maxScreens || (this.#nodes > maxNodes && this.#screens.length > 1))
      this.#nodes -= this.#screens.shift()?.nodes ?? 0;
    return screen.screenId;
  }

  clear(): void {
    this.#screens = [];
    this.#nodes = 0;
  }
}

function packOf(tree: ScreenTree): () => Promise<PackedTree> {
  let packed: Promise<PackedTree> | undefined;
  return () => (packed ??= packTree(tree));
}

function countNodes({ root }: ScreenTree): number {
  let count = 0;
  const rest = [root];
  for (let node = rest.pop(); node !== undefined; node = rest.pop()) {
    count += 1;
    rest.push(...node.children);
  }
  return count;
}
