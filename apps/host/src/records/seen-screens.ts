import type { ScreenTree, UiNode } from '@phalanx/protocol';
import { randomUUID } from 'node:crypto';

import { type PackedTree, packTree } from './record-tree.ts';

/** The screens of the last steps: more are rarely looked at, and a record has room for 50. */
const maxScreens = 20;
/** Maximum number of nodes of a run that wait to be packed. Only a record has trees packed: most never are. */
const maxNodes = 6000;

/** A screen that an automation has read. */
export interface SeenScreen {
  readonly screenId: string;
  /** Epoch milliseconds on the host's clock, of its first reading. */
  readonly capturedAt: number;
  readonly packageName: string;
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

  /** Number of times that the automation has read its screen. */
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
    const { capturedAt, packageName } = tree;
    const about = { screenId: randomUUID(), capturedAt, packageName };
    const screen = { ...about, look, nodes: countNodes(tree), pack: packOf(tree) };
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

/** Pair of 32-bit hashes: two screens of a run that differ have the same look once in 2⁶⁴. */
interface Look {
  one: number;
  other: number;
}

/** Digest of what a tree shows. Trees that differ in nothing but their time have the same. */
function lookOfTree(root: UiNode): string {
  const look = { one: 0x811c9dc5, other: 0x9e3779b9 };
  addNode(look, root);
  return `${look.one >>> 0}.${look.other >>> 0}`;
}

function addNode(look: Look, node: UiNode): void {
  for (const value of Object.values(node)) addValue(look, value);
}

function addValue(look: Look, value: unknown): void {
  if (typeof value === 'string') addText(look, value);
  else if (typeof value === 'number') add(look, value | 0);
  else if (typeof value === 'boolean') add(look, value ? 1 : 2);
  else if (Array.isArray(value)) {
    add(look, value.length);
    for (const one of value) addValue(look, one);
  } else if (typeof value === 'object' && value !== null)
    for (const one of Object.values(value)) addValue(look, one);
  else add(look, 3);
}

function addText(look: Look, text: string): void {
  add(look, text.length);
  for (let index = 0; index < text.length; index += 1) add(look, text.charCodeAt(index));
}

function add(look: Look, value: number): void {
  look.one = Math.imul(look.one ^ value, 0x01000193);
  look.other = Math.imul(look.other ^ value, 0x85ebca6b) ^ (look.other >>> 13);
}
