import type { UiNode } from '@phalanx/protocol';

import { type DriverError, unreadableTree } from '../driver-error.ts';

/**
 * Limit in bytes of a screen, in any form in which a phone reports it: texts of the length below, and the markup of as
 * many nodes.
 */
export const maxTreeBytes = 16 * 1024 * 1024;

export const tooManyBytes = (): DriverError => unreadableTree(`it is over ${maxTreeBytes} bytes`);

/** Limits of a screen. The resident helper stops at the same numbers of nodes and levels (Tree.java). */
export const maxNodes = 20_000;
export const maxDepth = 300;
/** Maximum length of the texts of all nodes together. */
const maxCharacters = 4 * 1024 * 1024;

/** Counts what is read of a screen. Rejects a tree that is larger than any app draws, alike for each way of reading. */
export class TreeSize {
  #nodes = 0;
  #characters = 0;

  /** Counts a node. Level 1 is a window's root. Throws `screen_not_readable`. */
  enter(level: number): void {
    this.#nodes += 1;
    if (level > maxDepth) throw unreadableTree(`it is nested deeper than ${maxDepth}`);
    if (this.#nodes > maxNodes) throw unreadableTree(`it has more than ${maxNodes} nodes`);
  }

  /** Counts the texts of a node. Throws `screen_not_readable`. */
  addTexts(node: Omit<UiNode, 'children' | 'boundsInScreen' | 'index'>): void {
    this.#characters += textLength(node);
    if (this.#characters > maxCharacters)
      throw unreadableTree(`its texts have more than ${maxCharacters} characters`);
  }
}

function textLength(node: Parameters<TreeSize['addTexts']>[0]): number {
  const { className, packageName, viewId, text, description, hintText, tooltipText } = node;
  const texts = [className, packageName, viewId, text, description, hintText, tooltipText];
  return [...texts, node.paneTitle, node.containerTitle].reduce((sum, one) => sum + (one?.length ?? 0), 0);
}
