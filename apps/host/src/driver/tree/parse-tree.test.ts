import { describe, expect, it } from 'vitest';
import { DriverError } from '../driver-error.ts';
import { parseRoots, parseTree } from './parse-tree.ts';
import { XmlScreen } from './xml-screen.ts';

const dumped = `<?xml version='1.0' encoding='UTF-8' standalone='yes' ?><hierarchy rotation="1"><node index="0" text="" resource-id="" class="android.widget.FrameLayout" package="com.example.notes" content-desc="" checkable="false" checked="false" clickable="false" enabled="true" focusable="false" focused="false" scrollable="false" long-clickable="false" password="false" selected="false" bounds="[0,0][1080,2400]"><node NAF="true" index="1" text="Tom &amp; &quot;Jerry&quot;&#10;&#128512;" resource-id="com.example.notes:id/title" class="android.widget.EditText" package="com.example.notes" content-desc="Title" checkable="false" checked="false" clickable="true" enabled="true" focusable="true" focused="true" scrollable="false" long-clickable="true" password="false" selected="false" bounds="[-20,66][1080,186]" hint="Name" /></node></hierarchy>`;

const fromHelper = `<?xml version="1.0" encoding="UTF-8" standalone="yes"?><hierarchy index="0" class="hierarchy" rotation="0" width="1080" height="2400"><android.widget.FrameLayout index="0" package="com.example.notes" class="android.widget.FrameLayout" text="" checkable="false" checked="false" clickable="false" enabled="true" focusable="false" focused="false" long-clickable="false" password="false" scrollable="false" selected="false" bounds="[0,0][1080,2400]" displayed="true"><android.widget.EditText index="2" package="com.example.notes" class="android.widget.EditText" text="Search" showing-hint="true" hint="Search" input-type="1" max-text-length="40" tooltip-text="tip" pane-title="pane" checkable="true" checked="true" clickable="true" enabled="false" focusable="true" focused="false" long-clickable="true" password="true" scrollable="true" selected="true" bounds="[0,66][1080,186]" displayed="false"/></android.widget.FrameLayout></hierarchy>`;

const page = (inner: string): string =>
  `<?xml version='1.0' encoding='UTF-8'?><hierarchy rotation="0">${inner}</hierarchy>`;
const codeOf = (xml: string): string => {
  try {
    parseTree(xml);
  } catch (error) {
    return error instanceof DriverError ? error.code : `not a DriverError: ${String(error)}`;
  }
  return 'parsed';
};

describe('the parser of UI trees', () => {
  it('reads the form of "uiautomator dump"', () => {
    const { root, packageName, rotation } = parseTree(dumped);
    expect({ packageName, rotation }).toEqual({ packageName: 'com.example.notes', rotation: 1 });
    expect(root).toMatchObject({
      className: 'android.widget.FrameLayout',
      text: null,
      viewId: null,
      visible: true,
    });
    expect(root.children).toHaveLength(1);
    expect(root.children[0]).toMatchObject({
      className: 'android.widget.EditText',
      text: 'Tom & "Jerry"\n😀',
      viewId: 'com.example.notes:id/title',
      description: 'Title',
      hintText: 'Name',
      boundsInScreen: { left: -20, top: 66, right: 1080, bottom: 186 },
      index: 1,
      focused: true,
      longClickable: true,
      maxTextLength: -1,
      inputType: '',
      children: [],
    });
  });

  it('reads the form of the UiAutomator2 server with all it adds', () => {
    const { root, rotation } = parseTree(fromHelper);
    expect(rotation).toBe(0);
    expect(root.children[0]).toMatchObject({
      className: 'android.widget.EditText',
      text: 'Search',
      hintText: 'Search',
      isShowingHintText: true,
      inputType: '1',
      maxTextLength: 40,
      tooltipText: 'tip',
      paneTitle: 'pane',
      checkable: true,
      checked: true,
      enabled: false,
      password: true,
      scrollable: true,
      selected: true,
      visible: false,
    });
  });

  it('takes the element name for the class when the class attribute is left out', () => {
    expect(parseTree(page('<android.view.View package="a.b"/>')).root.className).toBe('android.view.View');
  });

  it('reads values in either quotes, and in any script', () => {
    const { root } = parseTree(
      page(`<node text='"a" = b > c' content-desc="שלום 你好 😀 &#x1F600;"></node >`),
    );
    expect(root).toMatchObject({ text: '"a" = b > c', description: 'שלום 你好 😀 😀' });
  });

  it('reads as many nodes and levels as the resident helper tells, whatever markup they take', () => {
    const markup = ` ${'x'.repeat(200)}="${'y'.repeat(200)}"`;
    expect(parseTree(page(`<node${markup}/>`.repeat(20_000))).root.children).toHaveLength(20_000);
    expect(codeOf(page('<node>'.repeat(300) + '</node>'.repeat(300)))).toBe('parsed');
  });

  it('reads the longest text that it takes', () => {
    const text = 'x'.repeat(4_000_000);
    expect(parseTree(page(`<node text="${text}"/>`)).root.text).toBe(text);
  });

  it('joins the surrogate halves that older Androids write as two references', () => {
    expect(parseTree(page('<node text="&#55357;&#56832;!"/>')).root.text).toBe('😀!');
  });

  it.each([
    ['half a character', 'half \ud83d end', 'half ? end'],
    ['a reference to half a character', 'half &#55357; end', 'half ? end'],
    ['a control character', 'A\0B', 'A?B'],
    ['a reference to a control character', 'A&#11;B', 'A?B'],
    ['what is no character', 'none \uFFFE, &#xFFFF;', 'none ?, ?'],
    ['whole characters, spaces and ends of lines', '😀\uFFFD\u0085&#9;&#10;', '😀\uFFFD\u0085\t\n'],
  ])('replaces what XML forbids: %s', (_, told, text) => {
    expect(parseTree(page(`<node text="${told}"/>`)).root.text).toBe(text);
  });

  it('reads bounds of 32 bits', () => {
    const { root } = parseTree(page('<node bounds="[-2147483648,-12345678][12345678,2147483647]"/>'));
    expect(root.boundsInScreen).toEqual({
      left: -2_147_483_648,
      top: -12_345_678,
      right: 12_345_678,
      bottom: 2_147_483_647,
    });
  });

  it('puts several windows under one root that spans them', () => {
    const { root } = parseTree(
      page('<node package="a.b" bounds="[0,0][10,10]"/><node package="c.d" bounds="[5,5][20,30]"/>'),
    );
    expect(root.children.map(({ packageName }) => packageName)).toEqual(['a.b', 'c.d']);
    expect(root.boundsInScreen).toEqual({ left: 0, top: 0, right: 20, bottom: 30 });
  });

  describe('of several displays', () => {
    const own =
      '<node package="a.b" bounds="[0,0][1080,2400]" display-id="0"><node text="own" bounds="[0,0][5,5]" display-id="0"/></node>';
    const other = (text: string): string =>
      `<node package="c.d" bounds="[0,0][2880,1800]" display-id="2"><node text="${text}"><node/></node><node/></node>`;

    it.each([
      ['after', own + other('x')],
      ['before', other('x') + own],
      ['around', other('x') + own + other('y')],
      ['without a number', other('x') + own.replaceAll(' display-id="0"', '')],
    ])('has the main one alone, which stands there: %s', (_, inner) => {
      const xml = page(inner);
      expect(parseTree(xml)).toEqual(parseTree(page(own)));
      expect(parseRoots(xml)).toHaveLength(1);
      expect(new XmlScreen({ text: xml, bytes: undefined }).packageName).toBe('a.b');
    });

    it('has nothing of another one that stands within a window', () => {
      const inner = own.replace('</node>', `${other('x')}</node>`);
      expect(parseTree(page(inner)).root).toEqual(parseTree(page(own)).root);
    });

    it('is the same screen when another one changes', () => {
      const digest = (inner: string): string => new XmlScreen({ text: page(inner), bytes: undefined }).digest;
      expect(digest(own + other('x'))).toBe(digest(own + other('y')));
      expect(digest(own.replace('own', 'new') + other('x'))).not.toBe(digest(own + other('x')));
    });

    it('is not readable without the main one', () => {
      expect(() => parseTree(page(other('x')))).toThrow('none of the main one');
    });

    it('has its limits for all of them together', () => {
      expect(codeOf(page(own + '<node display-id="2"/>'.repeat(30_000)))).toBe('screen_not_readable');
    });
  });

  it.each([
    ['no text', ''],
    ['no XML', 'ERROR: could not get idle state.'],
    ['a tree without nodes', page('')],
    ['another root element', '<?xml version="1.0"?><html><body/></html>'],
    ['a tree that is cut off', dumped.slice(0, -30)],
    ['an unclosed element', page('<node>')],
    [
      'an entity bomb',
      '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]><hierarchy><node text="&b;"/></hierarchy>',
    ],
    [
      'an external entity',
      '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><hierarchy><node text="&a;"/></hierarchy>',
    ],
    ['a tree nested without end', page('<node>'.repeat(5000) + '</node>'.repeat(5000))],
    ['one level too many', page('<node>'.repeat(301) + '</node>'.repeat(301))],
    ['too many nodes', page('<node/>'.repeat(20_001))],
    ['too much text', page(`<node text="${'x'.repeat(5_000_000)}"/>`)],
    ['an attribute twice', page('<node text="a" text="b"/>')],
    ['an attribute without a value', page('<node text/>')],
    ['a value without quotes', page('<node text=a/>')],
    ['attributes that touch', page('<node text="a"index="1"/>')],
    ['an element in a value', page('<node text="<node/>"/>')],
    ['an end that nothing began', page('<node/></node>')],
    ['ends in the wrong order', page('<a><b></a></b>')],
    ['a comment', page('<!-- --><node/>')],
    ['what comes after the tree', `${page('<node/>')}<node/>`],
    ['an unknown reference', page('<node text="&nbsp;"/>')],
    ['a reference that does not end', page('<node text="a & b"/>')],
    ['a reference to no character', page('<node text="&#1114112;"/>')],
  ])('refuses %s', (_, xml) => {
    expect(codeOf(xml)).toBe('screen_not_readable');
  });

  it('keeps names of the language out of the nodes', () => {
    const { root } = parseTree(
      page('<node __proto__="x" constructor="y" toString="z" bounds="[1e9,x][NaN,0]" index="-0x1"/>'),
    );
    expect(root.boundsInScreen).toEqual({ left: 0, top: 0, right: 0, bottom: 0 });
    expect(Object.getPrototypeOf(root)).toBe(Object.prototype);
    expect(root.index).toBe(0);
  });
});
