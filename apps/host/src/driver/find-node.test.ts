import { expect, it } from 'vitest';

import { findAlertButton } from './find-node.ts';
import { parseTree } from './tree/parse-tree.ts';

const dialog = (first: string, second: string) =>
  parseTree(`<hierarchy rotation="0"><node bounds="[0,0][100,100]">
    <node text="${second}" resource-id="android:id/button2" bounds="[0,0][50,50]" />
    <node text="${first}" resource-id="android:id/button1" bounds="[50,0][100,50]" />
  </node></hierarchy>`).root;

it('a button of a dialog is found by its label however the app writes it', () => {
  const root = dialog('Don&#8217;t allow', 'Allow&#160;once');
  for (const button of ['Allow once', 'allow\u202Fonce', 'ALLOW ONCE', '\u2066Allow\u2069 once'])
    expect(findAlertButton(root, { answer: 'accept', button })).toMatchObject({
      label: 'Allow\u00A0once',
      point: { x: 25, y: 25 },
    });
});

it('a button of a dialog is not found by a part of its label', () => {
  for (const button of ['Allow', 'once', ' '])
    expect(() => findAlertButton(dialog('Don’t allow', 'Allow once'), { answer: 'accept', button })).toThrow(
      'No dialog with this button',
    );
  expect(findAlertButton(dialog('OK', 'Ok'), { answer: 'accept', button: 'Ok' }).point.x).toBe(25);
});
