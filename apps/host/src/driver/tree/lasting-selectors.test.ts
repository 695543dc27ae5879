import { createAndroidNode } from '@phalanx/automation/android-node';
import { proposeSelectors } from '@phalanx/automation/selectors';
import type { UiNode } from '@phalanx/protocol';
import { startSimulatedPhone, type Display, type SimulatedPhone } from '@phalanx/simulated-phone';
import { findUiautomatorXml } from '@phalanx/simulated-phone/testing/uiautomator-xml';
import { afterAll, beforeAll, expect, it } from 'vitest';

import { parseTree } from './parse-tree.ts';

const screens: readonly (readonly [packageName: string, activity: string])[] = [
  ['dev.phalanx.sample.launcher', ''],
  ...[
    'SettingsActivity',
    'NetworkActivity',
    'DisplayActivity',
    'BatteryActivity',
    'SystemActivity',
    'AboutActivity',
  ].map((name) => ['com.android.settings', `.${name}`] as const),
  ['dev.phalanx.sample.form', '.FormActivity'],
  ['dev.phalanx.sample.form', '.CountryActivity'],
];
const small: Display = { width: 720, height: 1600, density: 320 };

let phone: SimulatedPhone;
let smallPhone: SimulatedPhone;
beforeAll(async () => {
  phone = await startSimulatedPhone({ serial: 'LARGE', timeOfDay: '09:41' });
  smallPhone = await startSimulatedPhone({ serial: 'SMALL', display: small, timeOfDay: '09:41' });
});
afterAll(async () => {
  await phone.stop();
  await smallPhone.stop();
});

const none = async (): Promise<void> => undefined;
const touch = { tap: none, doubleTap: none, longPress: none, writeText: none, clearText: none };
const nodeOf = (root: UiNode): AndroidNode => createAndroidNode(root, touch);

function read({ android }: SimulatedPhone, [packageName, activity]: (typeof screens)[number]): UiNode {
  if (activity === '') android.goHome();
  else android.startActivity(packageName, activity);
  return parseTree(findUiautomatorXml(android.screen, { compressed: false }) ?? '').root;
}

const changed = (node: UiNode, change: (node: UiNode) => Partial<UiNode>): UiNode => ({
  ...node,
  ...change(node),
  children: node.children.map((child) => changed(child, change)),
});

/** Inverts every switch and box, and changes the typed text. */
const inAnotherState = (root: UiNode): UiNode =>
  changed(root, (node) => ({
    ...(node.checkable ? { checked: !node.checked } : {}),
    ...(node.text === 'On' || node.text === 'Off' ? { text: node.text === 'On' ? 'Off' : 'On' } : {}),
    ...(node.className?.endsWith('EditText') === true ? { text: 'typed' } : {}),
  }));

/** Pseudo-localizes a screen, as developers do to find untranslated texts: each text changes, and becomes longer. */
const inAnotherLanguage = (root: UiNode): UiNode => {
  const translate = (text: string | null): string | null =>
    text && `[${Array.from(text).toReversed().join('')}~~]`;
  return changed(root, (node) => ({
    text: translate(node.text),
    description: translate(node.description),
    hintText: translate(node.hintText),
  }));
};

/** Returns the nodes of a screen by their place in the tree. */
function byPlace(screen: AndroidNode): ReadonlyMap<string, AndroidNode> {
  const places = new Map<string, AndroidNode>();
  const add = (node: AndroidNode, place: string): void => {
    places.set(place, node);
    for (const [index, child] of node.children.entries()) add(child, `${place}/${index}`);
  };
  add(screen, '');
  return places;
}

function find(code: string, screen: AndroidNode): unknown {
  // oxlint-disable-next-line typescript/no-implied-eval, typescript/no-unsafe-type-assertion -- tests the code
  return (new Function('screen', `return ${code};`) as (screen: AndroidNode) => unknown)(screen);
}

interface Count {
  elements: number;
  lasting: number;
}

it('finds most elements by code that lasts in another state, size and language', () => {
  const count: Record<'with ids' | 'all', Count> = {
    'with ids': { elements: 0, lasting: 0 },
    all: { elements: 0, lasting: 0 },
  };
  const lost: string[] = [];
  for (const place of screens) {
    const root = read(phone, place);
    const others = [inAnotherState(root), inAnotherLanguage(root), read(smallPhone, place)].map((one) => {
      const screen = nodeOf(one);
      return { screen, places: byPlace(screen) };
    });
    for (const [path, node] of byPlace(nodeOf(root))) {
      const isElement =
        node.clickable || node.isCheckable || (node.text ?? '') !== '' || node.viewId !== undefined;
      if (!node.isVisible || !isElement) continue;
      const lasts = proposeSelectors(node).some(
        ({ find: code, finds }) =>
          finds !== 'another' &&
          others.every(({ screen, places }) => {
            const counterpart = places.get(path);
            const isThere = counterpart?.viewId === node.viewId && counterpart?.className === node.className;
            return !isThere || find(code, screen) === counterpart;
          }),
      );
      for (const kind of node.viewId === undefined ? (['all'] as const) : (['with ids', 'all'] as const)) {
        count[kind].elements += 1;
        if (lasts) count[kind].lasting += 1;
      }
      if (!lasts) lost.push(`${place[1]} ${node.className} ${node.viewId ?? ''} ${node.text ?? ''}`);
    }
  }
  for (const [kind, { elements, lasting }] of Object.entries(count))
    console.log(
      `Elements ${kind}: ${lasting} of ${elements} last, ${Math.floor((100 * lasting) / elements)} %`,
    );
  expect(count['with ids'].elements).toBeGreaterThan(50);
  expect(count['with ids'].lasting / count['with ids'].elements, lost.join('\n')).toBeGreaterThanOrEqual(
    0.95,
  );
});
