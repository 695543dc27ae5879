import { bestRanked, createTextRank, type TextRank, textRanks } from '@phalanx/automation/text-rank';
import type { UiNode, AgentCallParams } from '@phalanx/protocol';

import { DriverError } from './driver-error.ts';

/** The first node, in the order of the tree, that fits. */
export function findNode(node: UiNode, fits: (node: UiNode) => boolean): UiNode | undefined {
  if (fits(node)) return node;
  for (const child of node.children) {
    const found = findNode(child, fits);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Android's own ids of the buttons of a dialog: 1 confirms, 2 declines, 3 is the third way. */
const buttonId = /^android:id\/button[123]$/;

interface AlertButton {
  readonly label: string;
  readonly point: { readonly x: number; readonly y: number };
}

/** As the UiAutomator2 server finds it: the first button accepts, the second dismisses, unless one is named. */
export function findAlertButton(
  root: UiNode,
  { answer, button }: AgentCallParams<'alert.press'>,
): AlertButton {
  const buttons = listButtons(root).sort((a, b) => ((a.viewId ?? '') < (b.viewId ?? '') ? -1 : 1));
  const fallen = answer === 'accept' ? buttons[0] : (buttons[1] ?? buttons[0]);
  const chosen = button === undefined ? fallen : labelledAs(buttons, button);
  if (chosen === undefined) throw new DriverError('no_alert', 'No dialog with this button is on the screen.');
  const { left, right, top, bottom } = chosen.boundsInScreen;
  return { label: chosen.text ?? '', point: { x: (left + right) >> 1, y: (top + bottom) >> 1 } };
}

/** Never by a part of its label: `Allow` is not `Don't allow`. */
function labelledAs(buttons: readonly UiNode[], label: string): UiNode | undefined {
  const rankOf = createTextRank(label);
  const wholeRank = ({ text }: UiNode): TextRank | undefined => {
    const rank = rankOf(text ?? '');
    return rank !== undefined && rank <= textRanks.equalInOtherCase ? rank : undefined;
  };
  return bestRanked(buttons, wholeRank)[0];
}

function listButtons(node: UiNode): UiNode[] {
  const below = node.children.flatMap((child) => listButtons(child));
  return buttonId.test(node.viewId ?? '') ? [node, ...below] : below;
}
