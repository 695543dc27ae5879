/** Node trees as the host sends them, for tests. */
import type { UiNode } from '@phalanx/protocol';
import fc from 'fast-check';

import { createAndroidNode, type NodeTouch } from '../nodes/android-node.ts';

export function uiNode(part: Partial<UiNode> = {}): UiNode {
  return {
    className: 'android.widget.TextView',
    packageName: 'com.example',
    viewId: null,
    text: null,
    description: null,
    hintText: null,
    tooltipText: null,
    paneTitle: null,
    containerTitle: null,
    index: 0,
    boundsInScreen: { left: 0, top: 0, right: 100, bottom: 50 },
    maxTextLength: -1,
    inputType: '',
    isShowingHintText: false,
    checkable: false,
    checked: false,
    clickable: false,
    enabled: true,
    focusable: false,
    focused: false,
    longClickable: false,
    password: false,
    scrollable: false,
    selected: false,
    visible: true,
    children: [],
    ...part,
  };
}

/** Records the actions on nodes. */
export function recordingTouch(): NodeTouch & { did: unknown[][] } {
  const did: unknown[][] = [];
  const note =
    (name: string) =>
    async (...args: unknown[]): Promise<void> =>
      void did.push([name, ...args]);
  return {
    did,
    tap: note('tap'),
    doubleTap: note('doubleTap'),
    longPress: note('longPress'),
    writeText: note('writeText'),
    clearText: note('clearText'),
  };
}

export function screenOf(root: UiNode, touch: NodeTouch = recordingTouch()): AndroidNode {
  return createAndroidNode(root, touch);
}

const text = fc.option(fc.constantFrom('Login', 'login', 'Log in', 'Cancel', '', 'ÄÖ', 'a.b*c'), {
  nil: null,
});

/** Arbitrary tree of up to a few dozen nodes. */
export const anyTree: fc.Arbitrary<UiNode> = fc.letrec<{ node: UiNode }>((tie) => ({
  node: fc
    .record({
      text,
      description: text,
      viewId: fc.constantFrom(null, 'com.example:id/ok', 'com.example:id/cancel', 'other:id/ok'),
      className: fc.constantFrom(
        null,
        'android.widget.Button',
        'android.widget.EditText',
        'a.b.AppCompatButton',
        'android.widget.RadioButton',
      ),
      clickable: fc.boolean(),
      enabled: fc.boolean(),
      children: fc.oneof({ maxDepth: 4 }, fc.constant<UiNode[]>([]), fc.array(tie('node'), { maxLength: 4 })),
    })
    .map((part) => uiNode({ ...part, children: part.children.map((child, index) => ({ ...child, index })) })),
})).node;
