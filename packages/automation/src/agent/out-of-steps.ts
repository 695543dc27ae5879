import type { AgentCallParams, UiNode } from '@phalanx/protocol';

import type { AgentBridge } from './agent-parts.ts';
import { screenshotRecord } from './screenshot-record.ts';
import { findTreeId } from './nodes/tree-ids.ts';

type StoreOrder = Omit<AgentCallParams<'record.screen'>, 'treeId' | 'root'>;

/** Maximum length of a stage that the host accepts, in UTF-16 units. */
const maxStageLength = 500;
/**
 * Maximum length of a tree in characters of JSON. A larger one is not sent, because the sandbox rejects requests of
 * more than 500,000.
 */
const maxTreeLength = 450_000;
/**
 * Maximum length of a type or a tag, in UTF-16 units. It only bounds the message: the host's own limit is far
 * lower, and its refusal explains itself.
 */
const maxWordLength = 100;
const qualities: readonly string[] = Object.values(screenshotRecord);
const unknownState = 'unknown';

/** `agent.utils.outOfSteps` and its short form. */
export function createOutOfSteps(
  bridge: AgentBridge,
  readScreen: () => Promise<AndroidNode>,
): Pick<AgentUtils, 'outOfSteps' | 'debug'> {
  const outOfSteps: OutOfStepsUtils = {
    // oxlint-disable-next-line max-params -- the published signature of the agent API
    storeScreen: async (screen, stage, screenState, remainingSteps, screenshot) =>
      store(bridge, screen, {
        stage: shortText('stage', stage),
        screenState: shortText('screenState', screenState),
        remainingSteps: stepCount(remainingSteps),
        screenshot: qualityOf(screenshot),
      }),
    submit: (type: string, tag?: string) =>
      bridge.call('record.submit', {
        type: String(type).slice(0, maxWordLength),
        ...(tag !== undefined && { tag: String(tag).slice(0, maxWordLength) }),
      }),
  };
  return {
    outOfSteps,
    async debug(tag) {
      const order = { stage: 'debug', screenState: unknownState, remainingSteps: 0 } as const;
      await store(bridge, await readScreen(), { ...order, screenshot: 'low_quality' });
      return outOfSteps.submit('debug', tag);
    },
  };
}

/** Stores a screen by its ID while the host still knows the tree; an older tree is sent back to the host. */
async function store(bridge: AgentBridge, screen: AndroidNode, order: StoreOrder): Promise<void> {
  const root = rootOf(screen);
  const treeId = findTreeId(root);
  if (treeId !== undefined && (await bridge.call('record.screen', { ...order, treeId })) === 'stored') return;
  await bridge.call('record.screen', { ...order, ...treeOf(root) });
}

function treeOf(root: AndroidNode): { root?: unknown } {
  const tree = toUiNode(root);
  return JSON.stringify(tree).length > maxTreeLength ? {} : { root: tree };
}

function rootOf(screen: AndroidNode): AndroidNode {
  if (typeof screen !== 'object' || screen === null || !Array.isArray(screen.children))
    throw new TypeError('screen must be a node of agent.actions.screenContent().');
  let root = screen;
  while (root.parent) root = root.parent;
  return root;
}

function shortText(name: string, value: unknown): string {
  if (typeof value === 'string') return value.slice(0, maxStageLength);
  throw new TypeError(`${name} must be a string, but it is ${value === null ? 'null' : typeof value}.`);
}

function stepCount(value: unknown): number {
  if (typeof value === 'number' && !Number.isNaN(value))
    return Math.min(Math.max(0, Math.trunc(value)), Number.MAX_SAFE_INTEGER);
  throw new TypeError(`remainingSteps must be a number, but it is ${String(value)}.`);
}

function qualityOf(value: ScreenshotRecord): ScreenshotRecord {
  if (qualities.includes(value)) return value;
  throw new TypeError(
    `screenshotRecord must be a member of ScreenshotRecord, such as ScreenshotRecord.LOW_QUALITY, but it is ${String(value)}.`,
  );
}

/** Returns a node and its descendants in the form the phone reported them: the inverse of `createAndroidNode`. */
export function toUiNode(node: AndroidNode): UiNode {
  return {
    className: node.className,
    packageName: node.packageName,
    viewId: node.viewId ?? null,
    text: node.text ?? null,
    description: node.description ?? null,
    hintText: node.hintText,
    tooltipText: node.tooltipText ?? null,
    paneTitle: node.paneTitle ?? null,
    containerTitle: node.containerTitle ?? null,
    index: node.index,
    boundsInScreen: node.boundsInScreen,
    maxTextLength: node.maxTextLength,
    inputType: node.inputType,
    isShowingHintText: node.isShowingHintText,
    checkable: node.isCheckable,
    checked: node.isChecked,
    clickable: node.clickable,
    enabled: node.isEnabled,
    focusable: node.isFocusable,
    focused: node.isFocused,
    longClickable: node.isLongClickable,
    password: node.isPassword,
    scrollable: node.isScrollable,
    selected: node.isSelected,
    visible: node.isVisible,
    children: node.children.map(toUiNode),
  };
}
