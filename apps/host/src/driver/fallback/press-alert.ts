import type { AgentCallParams, UiNode } from '@phalanx/protocol';
import { DriverError } from '../driver-error.ts';
import type { PhoneShell } from '../phone-shell.ts';
import { dumpTree } from './dump-tree.ts';
import { runInput } from './input-command.ts';

/** Android's own ids of the buttons of a dialog: 1 confirms, 2 declines, 3 is the third way. */
const buttonId = /^android:id\/button[123]$/;

/** As the UI helper does: the first button accepts, the second dismisses, unless one is named. */
export async function pressAlert(
  shell: PhoneShell,
  { answer, button }: AgentCallParams<'alert.press'>,
  signal: AbortSignal,
): Promise<string> {
  const { root } = await dumpTree(shell, signal);
  const buttons = listButtons(root).sort((a, b) => ((a.viewId ?? '') < (b.viewId ?? '') ? -1 : 1));
  const fallen = answer === 'accept' ? buttons[0] : (buttons[1] ?? buttons[0]);
  const chosen = button === undefined ? fallen : buttons.find(({ text }) => text === button);
  if (chosen === undefined) throw new DriverError('no_alert', 'No dialog with this button is on the screen.');
  const { left, right, top, bottom } = chosen.boundsInScreen;
  await runInput(shell, `input tap ${(left + right) >> 1} ${(top + bottom) >> 1}`, signal);
  return chosen.text ?? '';
}

function listButtons(node: UiNode): UiNode[] {
  const below = node.children.flatMap((child) => listButtons(child));
  return buttonId.test(node.viewId ?? '') ? [node, ...below] : below;
}
