import type { ScreenTree, UiNode } from '@phalanx/protocol';

/** What one way told of a screen, without a text of it. */
export interface ScreenFigures {
  readonly nodes: number;
  readonly texts: number;
  readonly read_ms: readonly number[];
}

/** What another way told besides. */
export interface ScreenDifference {
  /** Texts and descriptions that are missing here. */
  readonly missing_texts: number;
  /** Of the texts that both have, those at another place. */
  readonly moved_texts: number;
}

const nodesOf = (node: UiNode): UiNode[] => [node, ...node.children.flatMap((child) => nodesOf(child))];

/** Where each text is; the same one may be at several places. */
function placesOf(root: UiNode): Map<string, Set<string>> {
  const places = new Map<string, Set<string>>();
  for (const { text, description, boundsInScreen } of nodesOf(root))
    for (const told of [text, description]) {
      if (told === null) continue;
      const known = places.get(told) ?? new Set();
      places.set(told, known.add(JSON.stringify(Object.values(boundsInScreen))));
    }
  return places;
}

export function figuresOf({ root }: ScreenTree, readMs: readonly number[]): ScreenFigures {
  return {
    nodes: nodesOf(root).length,
    texts: placesOf(root).size,
    read_ms: readMs.map((ms) => Math.round(ms)),
  };
}

/** What `one` lacks of what `other` has. */
export function differenceOf(one: ScreenTree, other: ScreenTree): ScreenDifference {
  const [here, there] = [placesOf(one.root), placesOf(other.root)];
  const texts = [...there.keys()];
  const isMoved = (text: string): boolean => {
    const places = here.get(text);
    return places !== undefined && places.isDisjointFrom(there.get(text) ?? new Set());
  };
  return {
    missing_texts: texts.filter((text) => !here.has(text)).length,
    moved_texts: texts.filter((text) => isMoved(text)).length,
  };
}
