import type { CodePlace, CodeReferences } from '@phalanx/protocol';
import { getTokenPosOfNode, getTouchingPropertyName, isIdentifier, type Node } from 'typescript/unstable/ast';

import { nothingFound } from '../nothing-found.ts';
import type { Place } from './assist.ts';

const maxReferences = 1_000;

/** Where the name at a place is defined and used, in the files below `root`. */
export function findReferences({ project, file, position }: Place, root: string): CodeReferences {
  const source = project.program.getSourceFile(file);
  const name = source === undefined ? undefined : getTouchingPropertyName(source, position);
  if (name === undefined || !isIdentifier(name)) return nothingFound.references;
  const places = new Map<string, CodePlace>();
  const definitions: (CodePlace | undefined)[] = [];
  for (const entry of project.checker.getReferencedSymbolsForNode(name, position)) {
    definitions.push(placeOf(entry.definition.resolve(), root));
    for (const handle of entry.references.slice(0, maxReferences - places.size)) {
      const place = placeOf(handle.resolve(), root);
      if (place !== undefined) places.set(`${place.path}:${place.start}`, place);
    }
  }
  // Of an import, the last symbol is the one that is imported.
  const definition = definitions.findLast((place) => place !== undefined) ?? null;
  return { definition, references: [...places.values()] };
}

function placeOf(node: Node | undefined, root: string): CodePlace | undefined {
  const source = node?.getSourceFile();
  if (node === undefined || source?.fileName.startsWith(`${root}/`) !== true) return undefined;
  return {
    path: source.fileName.slice(root.length + 1),
    start: getTokenPosOfNode(node, source),
    end: node.end,
  };
}
