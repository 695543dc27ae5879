import { createAndroidNode, type NodeTouch } from '@phalanx/automation/android-node';
import { type Condition, toNodeConditions } from '@phalanx/automation/conditions';
import { bestRank, bestRanked, createTextRank } from '@phalanx/automation/text-rank';
import {
  type ActRefusal,
  type ActSelector,
  type CompactLine,
  findAgain,
  type HostActTarget,
  type UiNode,
} from '@phalanx/protocol';

import { nearestTo } from './nearest-to.ts';
import type { Look } from './phone-look.ts';

/** Thrown when nothing was touched, with the reason. */
export class ActRefused extends Error {
  readonly refusal: ActRefusal;
  readonly candidates: readonly number[];

  constructor(refusal: ActRefusal, message: string, candidates: readonly number[] = []) {
    super(message);
    this.refusal = refusal;
    this.candidates = candidates;
  }
}

/** Found node, and whether its screen is unchanged since the caller read it. */
interface FoundNode {
  readonly node: UiNode;
  readonly isUnmoved: boolean;
}

/** Returns the targeted node. Throws `ActRefused`. */
export function findTarget(look: Look, target: HostActTarget): FoundNode {
  if (typeof target === 'object' && 'identity' in target) return findSame(look, target);
  const nodes = findAll(look, target);
  const [node] = nodes;
  if (node === undefined)
    throw new ActRefused('gone', `${said(target)} is not on the screen${nearestTo(target, look)}`);
  if (nodes.length === 1) return { node, isUnmoved: false };
  const places = placesOf(look, nodes);
  throw new ActRefused('several', `${nodes.length} nodes fit ${said(target)}`, places);
}

/** Returns all visible nodes that match a text or a selector. */
export function findAll(look: Look, target: string | ActSelector): UiNode[] {
  return typeof target === 'string' ? byText(look.compact.lines, target) : bySelector(look.tree.root, target);
}

export const said = (target: string | ActSelector): string => JSON.stringify(target).slice(0, 300);

function findSame(
  { compact: { lines } }: Look,
  { identity }: Extract<HostActTarget, { identity: unknown }>,
): FoundNode {
  const found = findAgain(identity, lines);
  if (found.kind === 'gone') throw new ActRefused('gone', 'It is not on the screen any more');
  if (found.kind === 'several') {
    const places = found.lines.map((line) => lines.indexOf(line)).slice(0, maxCandidates);
    throw new ActRefused(
      'several',
      'The screen has changed, and it can no longer be told from its equals',
      places,
    );
  }
  const place = [lines.indexOf(found.line)];
  if (found.kind === 'switched')
    throw new ActRefused('switched', `It is ${found.line.identity.checked} now`, place);
  return { node: nodeOf(found.line), isUnmoved: found.line.identity.place === identity.place };
}

const maxCandidates = 10;

// The lines come from a tree of the driver.
// oxlint-disable-next-line typescript/no-unsafe-type-assertion
const nodeOf = ({ node }: CompactLine): UiNode => node as UiNode;

/** Finds nodes by a text. Among the best matches, touchable nodes precede nodes that only show the text. */
function byText(lines: readonly CompactLine[], wanted: string): UiNode[] {
  const rankOf = createTextRank(wanted);
  const found = bestRanked(lines, (line) => bestRank(line.said, rankOf));
  const touchable = found.filter(({ isTouchable }) => isTouchable);
  return (touchable.length === 1 ? touchable : found).map(nodeOf);
}

const refuse = (): Promise<void> => Promise.reject(new Error('a screen that was read is not touched'));
/** Touches of nodes on a read-only screen; all of them are refused. */
export const untouchable: NodeTouch = {
  tap: refuse,
  doubleTap: refuse,
  longPress: refuse,
  writeText: refuse,
  clearText: refuse,
};

/** Returns the node of a look as automations read it. */
export function readAs({ tree: { root } }: Look, node: UiNode): AndroidNode {
  const read = createAndroidNode(root, untouchable);
  return inOrder(read)[inOrder(root).indexOf(node)] ?? read;
}

/** Finds nodes by the matcher of automations. */
function bySelector(root: UiNode, selector: ActSelector): UiNode[] {
  const nodes = inOrder(root);
  const read = createAndroidNode(root, untouchable);
  const places = new Map(inOrder(read).map((node, place) => [node, place]));
  return read
    .filterAdvanced(toNodeConditions(conditionsOf(selector)))
    .flatMap((found) => nodes[places.get(found) ?? -1] ?? [])
    .filter(({ visible }) => visible);
}

/** Whether the selector names a neighbour. Then the nearest node is meant, as in automations. */
const isBeside = ({ rightOf, leftOf, below, above }: ActSelector): boolean =>
  [rightOf, leftOf, below, above].some((anchor) => anchor !== undefined);

function conditionsOf(selector: ActSelector): Condition[] {
  // `nth` selects among the nodes that match the other conditions.
  const { nth = isBeside(selector) ? 0 : undefined, ...others } = selector;
  const conditions = Object.entries(others).map(([method, value]) => {
    const condition =
      typeof value === 'string'
        ? { method, value }
        : typeof value === 'object'
          ? { method, of: conditionsOf(value) }
          : { method };
    // The schema contains the names of the methods.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    return condition as Condition;
  });
  return nth === undefined ? conditions : [...conditions, { method: 'nth', position: nth }];
}

function inOrder<Node extends { readonly children: readonly Node[] }>(root: Node): Node[] {
  const found: Node[] = [];
  const waiting = [root];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    found.push(node);
    waiting.push(...node.children.toReversed());
  }
  return found;
}

const placesOf = ({ compact: { lines } }: Look, nodes: readonly UiNode[]): number[] =>
  nodes
    .map((node) => lines.findIndex((line) => line.node === node))
    .filter((place) => place >= 0)
    .slice(0, maxCandidates);
