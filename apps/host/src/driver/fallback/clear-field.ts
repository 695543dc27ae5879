import type { UiNode } from '@phalanx/protocol';
import { DriverError } from '../driver-error.ts';
import type { PhoneShell } from '../phone-shell.ts';
import { findNode } from '../find-node.ts';
import { dumpTree } from './dump-tree.ts';
import { runInput } from './input-command.ts';

const keyMoveEnd = 123;
const keyDelete = 67;
// One `input` process takes many keys; a longer line would reach the limit of an ADB service name on old phones.
const keysPerCommand = 60;

/** Empties the focused field key by key, as many times as it has characters. */
export async function clearField(shell: PhoneShell, signal: AbortSignal): Promise<void> {
  const { root } = await dumpTree(shell, signal);
  const field = findNode(root, (node) => node.focused && isTextField(node));
  if (field === undefined)
    throw new DriverError('no_focused_field', 'No text field has the focus. Tap one first.');
  let left = [...(field.text ?? '')].length;
  if (left === 0) return;
  await runInput(shell, `input keyevent ${keyMoveEnd}`, signal);
  while (left > 0) {
    const count = Math.min(left, keysPerCommand);
    await runInput(shell, `input keyevent ${Array(count).fill(keyDelete).join(' ')}`, signal);
    left -= count;
  }
}

function isTextField({ className, packageName }: UiNode): boolean {
  return packageName !== '' && /EditText|AutoComplete|TextInput|SearchView/.test(className ?? '');
}
