import type { UiNode } from '@phalanx/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { nodesBelow } from '../agent/nodes/node-search.ts';
import { anyTree, screenOf, uiNode } from '../agent/testing/screens.ts';
import { isChangingText } from './changing-text.ts';
import { proposeSelectors } from './propose-selectors.ts';

type Part = Partial<UiNode>;
const box = (left: number, top: number, right: number, bottom: number): Part => ({
  boundsInScreen: { left, top, right, bottom },
});
const layout = (part: Part, children: UiNode[]): UiNode =>
  uiNode({ className: 'android.widget.LinearLayout', ...part, children });

interface SwitchRow {
  title: string;
  summary?: string;
  isOn: boolean;
}

/** Row as in Android's settings: an icon, a title, a summary, and a switch without an ID. */
function switchRow({ title, summary, isOn }: SwitchRow, index: number): UiNode {
  const top = 200 + 150 * index;
  const line = (text: string, from: number): UiNode => uiNode({ text, ...box(150, from, 800, from + 60) });
  return layout({ clickable: true, ...box(0, top, 1080, top + 150) }, [
    uiNode({ className: 'android.widget.ImageView', ...box(40, top + 40, 110, top + 110) }),
    layout(box(150, top, 800, top + 150), [
      line(title, top + 10),
      ...(summary === undefined ? [] : [line(summary, top + 75)]),
    ]),
    uiNode({
      className: 'android.widget.Switch',
      text: isOn ? 'On' : 'Off',
      checkable: true,
      checked: isOn,
      ...box(900, top + 40, 1040, top + 110),
    }),
  ]);
}

const rows: readonly SwitchRow[] = [
  { title: 'Bluetooth', summary: 'Pair new devices', isOn: false },
  { title: 'Airplane mode', isOn: false },
  { title: 'Vibrate for calls', summary: 'Also when the volume is off', isOn: true },
];
const settings = (of: readonly SwitchRow[] = rows): AndroidNode =>
  screenOf(layout({ viewId: 'com.android.settings:id/list', ...box(0, 0, 1080, 2400) }, of.map(switchRow)));
const ofClass = (screen: AndroidNode, name: string): AndroidNode[] =>
  screen.filterAdvanced((filter) => filter.hasClass(name));
const only = (nodes: readonly AndroidNode[], index = 0): AndroidNode => {
  const node = nodes[index];
  if (node === undefined) throw new Error('The screen has no such node.');
  return node;
};

/** Runs the code of a proposal on a screen, like an automation. */
function runWait(wait: string, screen: AndroidNode): unknown {
  const actions = {
    waitForId: (id: string) => screen.findById(id),
    waitForText: (text: string) => screen.findTextOne(text),
    waitForNode: (conditions: NodeConditions) => screen.filterOne(conditions),
  };
  // oxlint-disable-next-line typescript/no-implied-eval, typescript/no-unsafe-type-assertion -- the code is what is tested
  const run = new Function('agent', `return ${wait};`) as (agent: unknown) => unknown;
  return run({ actions });
}

describe('proposals for a switch in a row', () => {
  it.each(rows.map(({ title }, index) => ({ title, index })))(
    'name the title of the row first: $title',
    ({ title, index }) => {
      const [first] = proposeSelectors(only(ofClass(settings(), 'Switch'), index));
      expect(first).toMatchObject({
        kind: 'relation',
        wait: `agent.actions.waitForNode((f) => f.isSwitch().rightOf((g) => g.hasText('${title}')))`,
        finds: 'nearest',
        dependsOn: undefined,
      });
      expect(first?.code).toBe(`await (await ${first?.wait}).tap();`);
    },
  );

  it('find the same switch after any switch is touched, but for those that say they depend on the state', () => {
    const broken: string[] = [];
    for (const [index] of rows.entries())
      for (const [touched] of rows.entries()) {
        const after = settings(rows.map((row, at) => (at === touched ? { ...row, isOn: !row.isOn } : row)));
        const lasting = proposeSelectors(only(ofClass(settings(), 'Switch'), index)).filter(
          ({ finds, dependsOn }) => finds !== 'another' && dependsOn !== 'state',
        );
        expect(lasting.length).toBeGreaterThan(0);
        for (const { wait } of lasting)
          if (runWait(wait, after) !== only(ofClass(after, 'Switch'), index)) broken.push(wait);
      }
    expect(broken).toEqual([]);
  });

  it('put what depends on the state after everything else, also where it finds the node alone', () => {
    const proposals = proposeSelectors(only(ofClass(settings(), 'Switch'), 2));
    const stateful = proposals.map(({ dependsOn }) => dependsOn === 'state');
    expect(stateful.indexOf(true)).toBeGreaterThan(stateful.lastIndexOf(false));
    expect(proposals.at(-1)).toMatchObject({ wait: "agent.actions.waitForText('On')", finds: 'alone' });
  });

  it('know a state in a language that no list has, by switches that share it', () => {
    const inFinnish = rows.map(({ title, isOn }, index) => {
      const row = switchRow({ title, isOn }, index);
      const text = isOn ? 'Päällä' : 'Pois';
      return { ...row, children: row.children.map((one) => (one.checkable ? { ...one, text } : one)) };
    });
    const screen = screenOf(layout({}, inFinnish));
    const proposals = proposeSelectors(only(ofClass(screen, 'Switch')));
    expect(proposals.filter(({ wait }) => wait.includes("waitForText('Pois')"))).toMatchObject([
      { dependsOn: 'state' },
    ]);
  });
});

describe('proposals for nodes without an ID or a text of their own', () => {
  it('find an icon by the title to its right, and a row by the title in it', () => {
    const screen = settings();
    expect(proposeSelectors(only(ofClass(screen, 'ImageView'), 1))[0]).toMatchObject({
      wait: "agent.actions.waitForNode((f) => f.isImage().leftOf((g) => g.hasText('Airplane mode')))",
    });
    const row = only(ofClass(screen, 'TextView')).parent?.parent ?? null;
    if (row === null) throw new Error('A title stands in a row.');
    expect(proposeSelectors(row)[0]).toMatchObject({
      wait: "agent.actions.waitForNode((f) => f.isClickable().hasDescendant((g) => g.hasText('Bluetooth')))",
      finds: 'alone',
    });
  });

  it('find a field by the label above it, and not by what is typed into it', () => {
    const field = (text: string, top: number): UiNode =>
      uiNode({ className: 'android.widget.EditText', text, ...box(40, top, 1040, top + 100) });
    const label = (text: string, top: number): UiNode => uiNode({ text, ...box(40, top, 300, top + 50) });
    const screen = screenOf(
      layout({}, [label('Name', 100), field('Ada', 160), label('E-mail', 300), field('a@example.com', 360)]),
    );
    const [first, ...others] = proposeSelectors(only(ofClass(screen, 'EditText'), 1));
    expect(first).toMatchObject({
      wait: "agent.actions.waitForNode((f) => f.isEditText().below((g) => g.hasText('E-mail')))",
    });
    expect(first?.code).toMatch(/\)\.writeText\(''\);$/);
    expect(others.at(-1)).toMatchObject({ kind: 'text', dependsOn: 'state' });
  });

  it('take no label that two nodes have, that changes, or that cannot be seen', () => {
    const besides = (labels: Part[]): string[] => {
      const nodes = labels.map((part) => uiNode({ ...box(0, 0, 100, 50), ...part }));
      const image = uiNode({ className: 'android.widget.ImageView', ...box(200, 0, 250, 50) });
      const screen = screenOf(layout({}, [...nodes, image]));
      return proposeSelectors(only(ofClass(screen, 'ImageView'))).map(({ kind }) => kind);
    };
    expect(besides([{ text: 'Inbox' }])).toContain('relation');
    expect(besides([{ text: 'Inbox' }, { text: 'Inbox' }])).not.toContain('relation');
    expect(besides([{ text: '12 unread' }])).not.toContain('relation');
    expect(besides([{ text: 'Inbox', visible: false }])).not.toContain('relation');
  });
});

describe('proposals', () => {
  it('prefer an ID of the app, and not one that each row of a list has', () => {
    const screen = screenOf(
      layout({}, [
        uiNode({ viewId: 'com.example:id/pay', text: 'Pay', className: 'android.widget.Button' }),
        uiNode({ viewId: 'android:id/title', text: 'Storage', ...box(0, 100, 100, 150) }),
      ]),
    );
    expect(proposeSelectors(only(ofClass(screen, 'Button')))[0]?.code).toBe(
      "await (await agent.actions.waitForId('pay')).tap();",
    );
    expect(proposeSelectors(only(ofClass(screen, 'TextView')))[0]).toMatchObject({ kind: 'text' });
  });

  it('find what they say they find when their code runs', () => {
    fc.assert(
      fc.property(anyTree, (root) => {
        const screen = screenOf(root);
        for (const node of nodesBelow(screen))
          for (const { wait, finds } of proposeSelectors(node))
            expect(runWait(wait, screen) === node, wait).toBe(finds !== 'another');
      }),
    );
  });

  it('write texts with quotes and line ends as code', () => {
    const text = "It's\n\\ “done”";
    const screen = screenOf(layout({}, [uiNode({ text })]));
    const [first] = proposeSelectors(only(ofClass(screen, 'TextView')));
    expect(runWait(first?.wait ?? '', screen)).toMatchObject({ text });
  });
});

it.each([
  'On',
  'not checked',
  'Aus',
  '12:30',
  'Battery, 45 %',
  '3',
  '3 unread',
  'Inbox (12)',
  '12 GB',
  '5 min ago',
  '€ 4,20',
])('takes %s for a text that changes', (text) => expect(isChangingText(text)).toBe(true));

it.each(['Bluetooth', 'Vibrate for calls', 'Pixel 8', 'Android 14', 'On-device search', 'Turn on', 'Item 7'])(
  'takes %s for a text that stays',
  (text) => expect(isChangingText(text)).toBe(false),
);

describe('proposals for nodes that only have a description', () => {
  const tab = (description: string, index: number): UiNode =>
    uiNode({
      className: 'android.view.View',
      description,
      clickable: true,
      index,
      ...box(0, index * 100, 1080, index * 100 + 100),
    });
  const flutter = (...descriptions: string[]): AndroidNode => screenOf(layout({}, descriptions.map(tab)));
  const proposed = (screen: AndroidNode, index: number) => proposeSelectors(only(screen.children, index));

  it('name the first line before a place, where what is below it counts', () => {
    const screen = flutter(
      'Homework',
      'Home address\nTap to change',
      'Home\nTab 1 of 3',
      'Search\nTab 2 of 3',
    );
    expect(proposed(screen, 2)[0]).toMatchObject({
      wait: "agent.actions.waitForText('Home')",
      finds: 'first',
    });
    expect(proposed(screen, 3)[0]).toMatchObject({
      wait: "agent.actions.waitForText('Search')",
      finds: 'alone',
    });
    for (const index of [0, 1, 2, 3]) expect(proposed(screen, index)[0]?.kind).not.toBe('position');
  });

  it('name the whole description where it is a part of others', () => {
    const screen = flutter('Search settings', 'Search', 'Search');
    const exact = "agent.actions.waitForNode((f) => f.isClickable().hasDescription('Search'))";
    expect(proposed(screen, 1).map(({ wait }) => wait)).toContain(exact);
    expect(proposed(flutter('Search settings', 'Search'), 1)[0]).toMatchObject({
      wait: "agent.actions.waitForNode((f) => f.hasDescription('Search'))",
      finds: 'alone',
    });
  });

  it('name the label that is inside them or beside them by its description', () => {
    const label = uiNode({ className: 'android.view.View', description: 'Wi-Fi', ...box(0, 0, 500, 100) });
    const toggle = uiNode({ className: 'android.widget.Switch', ...box(900, 0, 1000, 100) });
    const row = layout({ clickable: true, ...box(0, 0, 1080, 100) }, [label, toggle]);
    const screen = screenOf(layout({}, [row]));
    expect(proposeSelectors(only(ofClass(screen, 'Switch')))[0]?.wait).toBe(
      "agent.actions.waitForNode((f) => f.isSwitch().rightOf((g) => g.hasDescription('Wi-Fi')))",
    );
    expect(proposeSelectors(only(screen.children))[0]?.wait).toBe(
      "agent.actions.waitForNode((f) => f.isClickable().hasDescendant((g) => g.hasDescription('Wi-Fi')))",
    );
  });
});

it('proposals show what nobody sees in a text, and find its node', () => {
  const screen = screenOf(
    layout({}, [uiNode({ text: 'Pay\u00A0now' }), uiNode({ text: '\u2066Other\u2069' })]),
  );
  const [first] = proposeSelectors(only(ofClass(screen, 'TextView')));
  expect(first?.wait).toBe(String.raw`agent.actions.waitForText('Pay\u00A0now')`);
  expect(runWait(first?.wait ?? '', screen)).toBe(screen.children[0]);
  expect(proposeSelectors(only(ofClass(screen, 'TextView'), 1))[0]?.wait).toContain(
    String.raw`'\u2066Other\u2069'`,
  );
});
