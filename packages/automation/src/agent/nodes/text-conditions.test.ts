import { describe, expect, it } from 'vitest';

import { screenOf, uiNode } from '../testing/screens.ts';
import { createWaits } from '../waits/waits.ts';
import type { searchOf } from './android-node-filter.ts';

const labelled = (...texts: string[]): AndroidNode =>
  screenOf(uiNode({ children: texts.map((text, index) => uiNode({ text, index })) }));
const described = (...texts: string[]): AndroidNode =>
  screenOf(uiNode({ children: texts.map((description, index) => uiNode({ description, index })) }));
/** Variants of a text that apps use and that look the same. */
const spellings = [
  'Pay now',
  'Pay\u00A0now',
  'Pay\u202Fnow',
  'Pay\nnow',
  ' Pay  now ',
  'Pa\u00ADy now',
  '\u2066Pay\u2069 now',
  '\u200EPay now\uFEFF',
];

describe('the search for a text', () => {
  const flutter = described(
    'Homework',
    'Home address\nTap to change',
    'HOME',
    'Home\nTab 1 of 3',
    'Tab 2 of 3\nHome',
  );

  it('gives the node whose text is it, then the one whose first line is it, then any that has it', () => {
    expect(flutter.findTextOne('Home')?.description).toBe('HOME');
    expect(flutter.findTextOne('Home Tab 1 of 3')?.description).toBe('Home\nTab 1 of 3');
    expect(flutter.findTextOne('tab 2 OF 3')?.description).toBe('Tab 2 of 3\nHome');
    expect(flutter.findTextOne('address')?.description).toBe('Home address\nTap to change');
    expect(described('Homework', 'Tab\nHome', 'home\n1', 'Home\n2').findTextOne('Home')?.description).toBe(
      'Home\n2',
    );
  });

  it('gives all nodes that have it in the order of the tree', () => {
    expect(flutter.findText('home')).toEqual(flutter.children);
  });

  it.each(spellings)('finds it however the app writes it: %j', (text) => {
    for (const wanted of spellings) {
      const screen = labelled('Pay later', text, 'Do not pay now');
      expect(screen.findTextOne(wanted)?.text).toBe(text);
      expect(screen.filterOne((f) => f.hasText(wanted))?.text).toBe(text);
      expect(screen.filterOne((f) => f.textContains(wanted))?.text).toBe(text);
      expect(described(text).filterOne((f) => f.hasDescription(wanted))?.description).toBe(text);
      expect(described(text).filterOne((f) => f.descriptionContains(wanted))?.description).toBe(text);
      expect(
        screen.filterOne((f) =>
          f
            .not((g) => g.hasText(wanted))
            .isTextView()
            .hasIndex(1),
        ),
      ).toBeNull();
    }
  });

  it('leaves texts as the phone gives them, and compares regular expressions with these', () => {
    const screen = labelled('Pay\u00A0now');
    expect(screen.children[0]?.text).toBe('Pay\u00A0now');
    expect(screen.findTextOne(/Pay now/)).toBeNull();
    expect(screen.findTextOne(/Pay\snow/)).not.toBeNull();
    expect(screen.filterOne((f) => f.textMatches(/Pay now/))).toBeNull();
  });
});

describe('an equal text', () => {
  it('has any letter case where the screen has none in this one', () => {
    expect(labelled('PAY NOW', 'Pay later').filterOne((f) => f.hasText('Pay now'))?.text).toBe('PAY NOW');
    expect(labelled('PAY NOW', 'Pay now').filterAdvanced((f) => f.hasText('Pay now'))).toHaveLength(1);
    expect(labelled('PAY NOW', 'Pay now').filterOne((f) => f.hasText('Pay now'))?.text).toBe('Pay now');
    expect(labelled('Pay now or later').filterOne((f) => f.hasText('Pay now'))).toBeNull();
  });

  it('is told from an empty one, and from white space alone', () => {
    expect(
      labelled('', 'a')
        .filterAdvanced((f) => f.hasText())
        .map(({ text }) => text),
    ).toEqual(['a']);
    expect(
      labelled('', 'a')
        .filterAdvanced((f) => f.hasText(''))
        .map(({ text }) => text),
    ).toEqual(['']);
    expect(
      labelled('ab', 'a b')
        .filterAdvanced((f) => f.textContains(' '))
        .map(({ text }) => text),
    ).toEqual(['a b']);
  });
});

describe('the error of a wait in vain', () => {
  const messageOf = async (
    screen: AndroidNode,
    target: Parameters<typeof searchOf>[0],
  ): Promise<string | undefined> => {
    const waits = createWaits({
      read: async () => screen,
      swipe: async () => {},
      untilChange: async () => 'untold',
      sleep: async () => {},
      now: () => 0,
    });
    const wait = typeof target === 'function' ? waits.waitForNode : waits.waitForText;
    const error: unknown = await wait(target as never, { timeoutMs: 0 }).catch((reason: unknown) => reason);
    return error instanceof Error ? error.message.split('\n').slice(3).join('\n') : undefined;
  };

  it('shows the character that differs', async () => {
    expect(await messageOf(labelled('Settings', 'P\u0430y'), 'Pay')).toBe(
      'Nearest on the last screen: "P\u0430y", "Settings"\nThe difference: "P\u0430y" has U+0430 as character 2 where U+0061 is looked for.',
    );
    expect(await messageOf(labelled('IBAN\u00A0AT61'), /^IBAN AT/)).toBe(
      'Nearest on the last screen: "IBAN[U+00A0]AT61"\nThe difference: "IBAN[U+00A0]AT61" looks like a match of /^IBAN AT/, but it has U+00A0.',
    );
  });

  it('names what comes nearest to the text that conditions ask for', async () => {
    const screen = labelled('Settings', 'Blue tooth', 'Wi-Fi');
    for (const conditions of [
      (f) => f.isTextView().hasText('Bluetooth'),
      (f) => f.isSwitch().rightOf((g) => g.textContains('bluetooth')),
      (f) => f.hasDescendant((g) => g.anyOf((h) => h.hasDescription('Bluetooth'))),
      (f) => f.hasText('Wi-Fi').childOf((g) => g.hasText('Bluetooth')),
    ] satisfies NodeConditions[])
      expect(await messageOf(screen, conditions)).toMatch(/^Nearest on the last screen: "Blue tooth"/);
    expect(await messageOf(labelled('No\u202Fway'), (f) => f.textMatches(/No way/))).toContain(
      'but it has U+202F.',
    );
    expect(await messageOf(labelled('b\u00A0c', 'a'), (f) => f.isSwitch())).toBe(
      'Nearest on the last screen: "b[U+00A0]c", "a"',
    );
  });
});
