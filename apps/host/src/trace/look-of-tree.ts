import type { UiNode } from '@phalanx/protocol';

/** Of two 32-bit hashes: two screens of a run that differ have the same look once in 2⁶⁴. */
interface Look {
  one: number;
  other: number;
}

/** A word for what a tree shows. Trees that differ in nothing but their time have the same. */
export function lookOfTree(root: UiNode): string {
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
