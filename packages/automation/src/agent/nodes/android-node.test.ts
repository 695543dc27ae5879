import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { anyTree, recordingTouch, screenOf, uiNode } from '../testing/screens.ts';

const any = (check: (screen: AndroidNode) => void): void =>
  fc.assert(
    fc.property(anyTree, (root) => {
      check(screenOf(root));
    }),
  );
/** Simple recursive implementation to compare with. */
const walk = (node: AndroidNode): AndroidNode[] => [node, ...node.children.flatMap(walk)];
const has =
  (part: string) =>
  (node: AndroidNode): boolean =>
    [node.text, node.description].some((text) => text?.toLowerCase().includes(part.toLowerCase()));

describe('a tree of nodes', () => {
  it('lists every node once, parents before children, in the order of the screen', () => {
    any((screen) => expect(screen.getAllNodes()).toEqual(walk(screen)));
    any((screen) => expect(screen.allNodes()).toEqual(screen.getAllNodes()));
  });

  it('knows parents, and only the root has none', () => {
    any((screen) => {
      expect(screen.parent).toBeNull();
      for (const node of walk(screen)) for (const child of node.children) expect(child.parent).toBe(node);
    });
  });

  it('has a fresh falseId on every node each time', () => {
    fc.assert(
      fc.property(anyTree, (root) => {
        const ids = [screenOf(root), screenOf(root)].flatMap(walk).map(({ falseId }) => falseId);
        expect(new Set(ids).size).toBe(ids.length);
        for (const id of ids)
          expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      }),
    );
  });

  it('leaves out text, description and viewId that the phone does not give', () => {
    const bare = screenOf(uiNode());
    expect(['text' in bare, 'description' in bare, 'viewId' in bare, bare.hintText]).toEqual([
      false,
      false,
      false,
      null,
    ]);
  });

  it('can be printed as JSON', () => {
    any((screen) => expect(JSON.parse(JSON.stringify(screen))).toMatchObject({ falseId: screen.falseId }));
  });
});

describe('finding nodes', () => {
  it('by text finds exactly the nodes whose text or description contains it', () => {
    any((screen) => expect(screen.findText('log')).toEqual(walk(screen).filter(has('log'))));
  });

  it('one by text gives an equal one before one that contains it, and null for none', () => {
    any((screen) => {
      const equal = walk(screen).find(({ text, description }) => text === 'Login' || description === 'Login');
      expect(screen.findTextOne('Login')).toBe(equal ?? walk(screen).find(has('login')) ?? null);
      expect(screen.findTextOne('not there')).toBeNull();
      expect(screen.findTextOne('')).toBeNull();
    });
  });

  it('takes text literally, and regular expressions as such, also with the flag g', () => {
    any((screen) => {
      expect(screen.findText('a.b*c')).toEqual(walk(screen).filter(has('a.b*c')));
      expect(screen.findText(/^Log ?in$/g)).toEqual(
        walk(screen).filter(({ text, description }) =>
          [text, description].some((one) => one === 'Login' || one === 'Log in'),
        ),
      );
    });
  });

  it('by id takes the full id or its name', () => {
    any((screen) => {
      const ok = walk(screen).filter(({ viewId }) => viewId?.endsWith(':id/ok'));
      expect(screen.findAllById('ok')).toEqual(ok);
      expect(screen.findById('ok')).toBe(ok[0] ?? null);
      expect(screen.findById('com.example:id/ok')).toBe(
        ok.find(({ viewId }) => viewId?.startsWith('com')) ?? null,
      );
      expect(screen.findById('k')).toBeNull();
    });
  });

  it('with filterAdvanced meets all conditions at a time', () => {
    any((screen) => {
      expect(screen.filterAdvanced((f) => f)).toEqual(walk(screen));
      expect(screen.filterAdvanced((f) => f.isClickable().isEnabled())).toEqual(
        walk(screen).filter((node) => node.clickable && node.isEnabled),
      );
      expect(screen.filterAdvanced((f) => f.isButton())).toEqual(
        walk(screen).filter(
          ({ className }) => className === 'android.widget.Button' || className === 'a.b.AppCompatButton',
        ),
      );
    });
  });

  it('with not and anyOf splits the nodes as logic says', () => {
    any((screen) => {
      const meets = screen.filterAdvanced((f) => f.hasText('Login'));
      const rest = screen.filterAdvanced((f) => f.not((g) => g.hasText('Login')));
      expect(new Set([...meets, ...rest])).toEqual(new Set(walk(screen)));
      expect(meets.length + rest.length).toBe(walk(screen).length);
      expect(
        screen.filterAdvanced((f) =>
          f.anyOf(
            (g) => g.isEditText(),
            (g) => g.hasId('ok'),
          ),
        ),
      ).toEqual(
        walk(screen).filter(
          ({ className, viewId }) => className === 'android.widget.EditText' || viewId?.endsWith(':id/ok'),
        ),
      );
    });
  });

  it('does not change a filter that another is made from', () => {
    const screen = screenOf(uiNode({ clickable: true, children: [uiNode()] }));
    screen.filterAdvanced((f) => {
      f.isClickable();
      expect(screen.filterAdvanced(() => f)).toHaveLength(2);
      return f;
    });
  });

  it('says so when the filter function gives nothing back', () => {
    expect(() => screenOf(uiNode()).filterAdvanced(() => undefined as never)).toThrow(
      'must give back the filter it got',
    );
  });
});

const at = (left: number, top: number, right: number, bottom: number) => ({
  boundsInScreen: { left, top, right, bottom },
});
const field = { className: 'android.widget.EditText' };

describe('selecting by relation', () => {
  const form = screenOf(
    uiNode({
      ...at(0, 0, 400, 800),
      children: [
        uiNode({ text: 'Far field', ...field, ...at(0, 500, 400, 560) }),
        uiNode({ text: 'Email', ...at(0, 100, 80, 130), index: 1 }),
        uiNode({ text: 'Near field', ...field, ...at(0, 130, 400, 190), index: 2 }),
        uiNode({
          viewId: 'a:id/row',
          ...at(0, 600, 400, 660),
          index: 3,
          children: [
            uiNode({ text: 'Wi-Fi', ...at(0, 600, 200, 660) }),
            uiNode({ text: 'On', className: 'android.widget.Switch', ...at(300, 600, 400, 660), index: 1 }),
          ],
        }),
        uiNode({ text: 'Hidden field', ...field, ...at(0, 0, 0, 0), index: 4 }),
      ],
    }),
  );
  const texts = (conditions: NodeConditions): (string | undefined)[] =>
    form.filterAdvanced(conditions).map(({ text }) => text);
  const label: NodeConditions = (f) => f.hasText('Email');

  it('gives what lies on a side of an anchor, the nearest first', () => {
    expect(texts((f) => f.isEditText().below(label))).toEqual(['Near field', 'Far field']);
    expect(texts((f) => f.isEditText().above((g) => g.hasText('Wi-Fi')))).toEqual([
      'Far field',
      'Near field',
    ]);
    expect(texts((f) => f.isSwitch().rightOf((g) => g.hasText('Wi-Fi')))).toEqual(['On']);
    expect(texts((f) => f.hasText().leftOf((g) => g.isSwitch()))).toEqual(['Wi-Fi', 'Email']);
    expect(texts((f) => f.below((g) => g.hasText('nowhere')))).toEqual([]);
  });

  it('looks for anchors on the whole screen, also from a part of it', () => {
    const row = form.findById('row');
    expect(row?.filterOne((f) => f.isSwitch().below(label))?.text).toBe('On');
    expect(row?.filterOne((f) => f.hasText('Email'))).toBeNull();
  });

  it('takes a node as the anchor', () => {
    const anchor = form.findTextOne('Email');
    if (anchor === null) throw new Error('no label');
    expect(form.filterOne((f) => f.isEditText().below(anchor))?.text).toBe('Near field');
  });

  it('knows families', () => {
    expect(texts((f) => f.isSwitch().childOf((g) => g.hasId('row')))).toEqual(['On']);
    expect(form.filterAdvanced((f) => f.hasDescendant((g) => g.isSwitch()))).toEqual([
      form,
      form.findById('row'),
    ]);
    expect(form.filterAdvanced((f) => f.hasChild((g) => g.isSwitch()))).toEqual([form.findById('row')]);
    expect(texts((f) => f.hasIndex(2))).toEqual(['Near field']);
  });

  it('picks one of several, wherever that is written', () => {
    expect(texts((f) => f.nth(1).isEditText())).toEqual(['Near field']);
    expect(texts((f) => f.isEditText().below(label).nth(-1))).toEqual(['Far field']);
    expect(texts((f) => f.isEditText().nth(3))).toEqual([]);
    expect(texts((f) => f.isEditText().below((g) => g.isEditText().nth(1)))).toEqual(['Far field']);
    expect(() => texts((f) => f.not((g) => g.nth(0)))).toThrow('nth() picks one of all nodes');
    expect(() => texts((f) => f.nth(0.5))).toThrow('nth takes a whole number');
  });
});

describe('acting on a node', () => {
  const touched = uiNode(at(10, 20, 31, 41));

  it('touches the middle of its bounds', async () => {
    const touch = recordingTouch();
    const node = screenOf(touched, touch);
    await node.tap();
    await node.doubleTap();
    await node.longPress();
    await node.longPress(5);
    await node.writeText('a');
    await node.writeText('b', { clear: true });
    await node.tap({ closeKeyboard: true });
    const words = { className: 'android.widget.TextView', viewId: null, text: null, description: null };
    const on = { ...words, packageName: 'com.example', bounds: node.boundsInScreen };
    const aim = { on, closeKeyboard: false };
    expect(touch.did).toEqual([
      ['tap', 20, 30, aim],
      ['doubleTap', 20, 30, aim],
      ['longPress', 20, 30, { ...aim, durationMs: undefined }],
      ['longPress', 20, 30, { ...aim, durationMs: 5 }],
      ['tap', 20, 30, aim],
      ['writeText', 'a'],
      ['tap', 20, 30, aim],
      ['clearText'],
      ['writeText', 'b'],
      ['tap', 20, 30, { on, closeKeyboard: true }],
    ]);
  });

  it.each([
    { left: 0, top: 0, right: 0, bottom: 0 },
    { left: 5, top: 5, right: 4, bottom: 9 },
    { left: -90, top: 0, right: -10, bottom: 9 },
  ])('off the screen is an error: %j', async (boundsInScreen) => {
    const touch = recordingTouch();
    await expect(screenOf(uiNode({ boundsInScreen }), touch).tap()).rejects.toThrow('not on the screen');
    expect(touch.did).toEqual([]);
  });
});
