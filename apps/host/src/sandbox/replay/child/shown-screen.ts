import type { ReplayScreen, ScreenTree, UiNode } from '@phalanx/protocol';

/** A saved screen in the place of a phone's. */
export class ShownScreen {
  readonly stage: string;
  readonly #treeJson: string;
  #tree: ScreenTree | undefined;

  constructor({ treeJson, stage = '' }: ReplayScreen) {
    this.#treeJson = treeJson;
    this.stage = stage;
  }

  get tree(): ScreenTree {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- whoever sent it has checked it
    return (this.#tree ??= JSON.parse(this.#treeJson) as ScreenTree);
  }

  /** JSON of the tree under an ID, by which the code stores it. */
  jsonAs(treeId: number): string {
    return `${this.#treeJson.slice(0, -1)},"treeId":${treeId}}`;
  }

  /** The node that an input at this point goes to, in words. */
  wordsAt(x: number, y: number): string {
    const hit = nodesAt(this.tree.root, x, y);
    const node = hit.findLast(({ clickable }) => clickable) ?? hit.at(-1);
    return node === undefined ? 'nothing' : wordsFor(node);
  }

  isPasswordAt(x: number, y: number): boolean {
    return nodesAt(this.tree.root, x, y).some(({ password }) => password);
  }

  get hasPasswordFocus(): boolean {
    return nodesOf(this.tree.root).some(({ password, focused }) => password && focused);
  }

  /** The button of a dialog, as `alert.press` finds it. */
  findButton(answer: 'accept' | 'dismiss', label: string | undefined): UiNode | undefined {
    const ids = answer === 'accept' ? ['button1'] : ['button2', 'button3'];
    return nodesOf(this.tree.root).find(({ viewId, text, clickable }) =>
      label === undefined ? ids.some((id) => viewId === `android:id/${id}`) : clickable && text === label,
    );
  }
}

function nodesOf(root: UiNode): UiNode[] {
  const found = [root];
  for (const node of found) found.push(...node.children);
  return found;
}

/** Outer nodes first. */
const nodesAt = (root: UiNode, x: number, y: number): UiNode[] =>
  nodesOf(root).filter(({ visible, boundsInScreen: { left, top, right, bottom } }) => {
    return visible && left <= x && x < right && top <= y && y < bottom;
  });

function wordsFor({ className, viewId, text, description }: UiNode): string {
  const id = viewId === null ? '' : ` #${viewId.split(':id/').at(-1)}`;
  const label = text || description;
  return `${className?.split('.').at(-1) ?? 'node'}${id}${label ? ` "${label.slice(0, 60)}"` : ''}`;
}
