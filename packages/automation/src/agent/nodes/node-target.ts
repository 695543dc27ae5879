import { selectNodes } from './android-node-filter.ts';
import { equalFirst, nodesWithText } from './node-search.ts';

const maxWordsLength = 200;

/** What is looked for, in words for an error, and the nodes of a screen that are it, the best first. */
export interface TargetSearch {
  readonly awaited: string;
  readonly near?: string;
  readonly findAll: (screen: AndroidNode) => AndroidNode[];
}

export function searchOf(target: string | RegExp | NodeConditions): TargetSearch {
  if (typeof target === 'function') {
    return {
      // The author knows the conditions again as they are written.
      awaited: `a node by ${String(target).replaceAll(/\s+/g, ' ').slice(0, maxWordsLength)}`,
      findAll: (screen) => selectNodes(screen, target),
    };
  }
  return {
    awaited: `the text ${quoted(target)}`,
    near: plain(target),
    findAll: (screen) => equalFirst(nodesWithText(screen, target), target),
  };
}

const plain = (text: string | RegExp): string => (text instanceof RegExp ? text.source : String(text));
const quoted = (text: string | RegExp): string => (text instanceof RegExp ? String(text) : `"${text}"`);
