import { type DialogButton, findDialogButtons } from '@phalanx/protocol';
import { expect, it } from 'vitest';

import { findLabelled } from './find-labelled.ts';
import { parseTree } from './tree/parse-tree.ts';

function findIn(labels: readonly [first: string, second: string], label: string): DialogButton | undefined {
  const { root } = parseTree(`<hierarchy rotation="0"><node bounds="[0,0][100,100]">
    <node text="${labels[1]}" resource-id="android:id/button2" clickable="true" enabled="true" bounds="[0,0][50,50]" />
    <node text="${labels[0]}" resource-id="android:id/button1" clickable="true" enabled="true" bounds="[50,0][100,50]" />
  </node></hierarchy>`);
  const dialog = findDialogButtons(root);
  if (dialog === undefined) throw new Error('It is no dialog.');
  return findLabelled(dialog, label);
}

it('a button of a dialog is found by its label however the app writes it', () => {
  for (const label of ['Allow once', 'allow\u202Fonce', 'ALLOW ONCE', '\u2066Allow\u2069 once'])
    expect(findIn(['Don&#8217;t allow', 'Allow&#160;once'], label)?.label).toBe('Allow\u00A0once');
});

it('a button of a dialog is not found by a part of its label', () => {
  for (const label of ['Allow', 'once', ' '])
    expect(findIn(['Don’t allow', 'Allow once'], label), label).toBeUndefined();
  expect(findIn(['OK', 'Ok'], 'Ok')?.node.viewId).toBe('android:id/button2');
});
