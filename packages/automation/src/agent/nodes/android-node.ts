import type { UiNode } from '@phalanx/protocol';
import { type NodeAim, touchedNode } from './touched-node.ts';

import { selectNodes } from './android-node-filter.ts';
import { hasViewId, nodesBelow, nodesWithText, nodeWithText } from './node-search.ts';
import { aimOfNode } from '../trace/aim-of-call.ts';
import { runUnreported, type RunStep } from '../trace/run-step.ts';
import { createUuid } from '../uuid.ts';

/** Functions that the actions of nodes need. */
export interface NodeTouch extends Pick<AgentActions, 'writeText' | 'clearText'> {
  tap(x: number, y: number, aim: NodeAim): Promise<void>;
  doubleTap(x: number, y: number, aim: NodeAim): Promise<void>;
  longPress(x: number, y: number, aim: NodeAim & { durationMs: number | undefined }): Promise<void>;
  /** Reports actions on nodes as steps of the run. */
  readonly runStep?: RunStep;
}

/** Creates the node with all of its descendants. */
export function createAndroidNode(node: UiNode, touch: NodeTouch): AndroidNode {
  return new Node(node, touch, null);
}

class Node implements AndroidNode {
  declare readonly viewId?: string;
  declare readonly text?: string;
  declare readonly description?: string;
  readonly falseId = createUuid();
  readonly className: string | null;
  readonly packageName: string;
  readonly boundsInScreen: AndroidNode['boundsInScreen'];
  readonly index: number;
  readonly hintText: string | null;
  readonly maxTextLength: number;
  readonly inputType: string;
  readonly isShowingHintText: boolean;
  readonly tooltipText: string | null;
  readonly paneTitle: string | null;
  readonly containerTitle: string | null;
  readonly isEnabled: boolean;
  readonly clickable: boolean;
  readonly isLongClickable: boolean;
  readonly isCheckable: boolean;
  readonly isChecked: boolean;
  readonly isFocusable: boolean;
  readonly isFocused: boolean;
  readonly isPassword: boolean;
  readonly isScrollable: boolean;
  readonly isSelected: boolean;
  readonly isVisible: boolean;
  readonly children: readonly AndroidNode[];
  readonly #touch: NodeTouch;
  readonly #parent: AndroidNode | null;

  constructor(node: UiNode, touch: NodeTouch, parent: AndroidNode | null) {
    if (node.viewId !== null) this.viewId = node.viewId;
    if (node.text !== null) this.text = node.text;
    if (node.description !== null) this.description = node.description;
    this.className = node.className;
    this.packageName = node.packageName;
    this.boundsInScreen = node.boundsInScreen;
    this.index = node.index;
    this.hintText = node.hintText;
    this.maxTextLength = node.maxTextLength;
    this.inputType = node.inputType;
    this.isShowingHintText = node.isShowingHintText;
    this.tooltipText = node.tooltipText;
    this.paneTitle = node.paneTitle;
    this.containerTitle = node.containerTitle;
    this.isEnabled = node.enabled;
    this.clickable = node.clickable;
    this.isLongClickable = node.longClickable;
    this.isCheckable = node.checkable;
    this.isChecked = node.checked;
    this.isFocusable = node.focusable;
    this.isFocused = node.focused;
    this.isPassword = node.password;
    this.isScrollable = node.scrollable;
    this.isSelected = node.selected;
    this.isVisible = node.visible;
    this.#touch = touch;
    this.#parent = parent;
    this.children = node.children.map((child) => new Node(child, touch, this));
  }

  /** Inherited getter, so that a printed or serialized node shows only its descendants. */
  get parent(): AndroidNode | null {
    return this.#parent;
  }

  findTextOne(text: string | RegExp): AndroidNode | null {
    return nodeWithText(this, text);
  }

  findText(text: string | RegExp): AndroidNode[] {
    return nodesWithText(this, text);
  }

  findById(viewId: string): AndroidNode | null {
    return nodesBelow(this).find((node) => hasViewId(node, viewId)) ?? null;
  }

  findAllById(viewId: string): AndroidNode[] {
    return nodesBelow(this).filter((node) => hasViewId(node, viewId));
  }

  filterAdvanced(conditions: NodeConditions): AndroidNode[] {
    return selectNodes(this, conditions);
  }

  filterOne(conditions: NodeConditions): AndroidNode | null {
    return selectNodes(this, conditions)[0] ?? null;
  }

  getAllNodes(): AndroidNode[] {
    return nodesBelow(this);
  }

  allNodes(): AndroidNode[] {
    return nodesBelow(this);
  }

  tap(options: TouchOptions = {}): Promise<void> {
    return this.#run('tap', async () => this.#touch.tap(...middleOf(this), aimAt(this, options)));
  }

  doubleTap(options: TouchOptions = {}): Promise<void> {
    return this.#run('doubleTap', async () => this.#touch.doubleTap(...middleOf(this), aimAt(this, options)));
  }

  longPress(durationMs?: number, options: TouchOptions = {}): Promise<void> {
    const aim = { ...aimAt(this, options), durationMs };
    return this.#run('longPress', async () => this.#touch.longPress(...middleOf(this), aim));
  }

  writeText(text: string, options: TouchOptions & { clear?: boolean } = {}): Promise<void> {
    return this.#run('writeText', async () => {
      await this.#touch.tap(...middleOf(this), aimAt(this, options));
      if (options.clear === true) await this.#touch.clearText();
      await this.#touch.writeText(text);
    });
  }

  #run(name: string, work: () => Promise<void>): Promise<void> {
    const run = this.#touch.runStep ?? runUnreported;
    return run({ name, aim: () => aimOfNode(this), work });
  }
}

Object.defineProperty(Node, 'name', { value: 'AndroidNode' });

const aimAt = (node: AndroidNode, { closeKeyboard }: TouchOptions): NodeAim => ({
  on: touchedNode(node),
  closeKeyboard: closeKeyboard === true,
});

function middleOf({ boundsInScreen: { left, top, right, bottom } }: AndroidNode): [x: number, y: number] {
  const x = Math.floor((left + right) / 2);
  const y = Math.floor((top + bottom) / 2);
  if (right > left && bottom > top && x >= 0 && y >= 0) return [x, y];
  throw new RangeError(
    `The node is not on the screen: its bounds are ${left},${top} to ${right},${bottom}. Scroll to it, then read the screen again.`,
  );
}
