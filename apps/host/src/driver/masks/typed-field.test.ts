import type { UiNode } from '@phalanx/protocol';
import { describe, expect, it, vi } from 'vitest';

import { parseTree } from '../tree/parse-tree.ts';
import { hideMasked } from './hide-masked.ts';
import { HeldMasks } from './masked-screen.ts';
import { TypedSecrets } from './typed-secrets.ts';

interface Field {
  /** Upper edge in pixels; each field is 20 pixels high. */
  readonly y: number;
  readonly text: string;
  readonly id?: string;
}

const packageName = 'com.shop';

function treeOf(fields: readonly Field[]): UiNode {
  const nodes = fields.map(({ y, text, id = '' }) => {
    const at = `bounds="[0,${y}][100,${y + 20}]" text="${text}" resource-id="${id}"`;
    return `<android.widget.EditText package="${packageName}" ${at} />`;
  });
  const root = `<android.widget.FrameLayout package="${packageName}" bounds="[0,0][100,400]">${nodes.join('')}</android.widget.FrameLayout>`;
  return parseTree(`<hierarchy rotation="0">${root}</hierarchy>`).root;
}

class Phone {
  readonly masks = new HeldMasks();
  readonly typed = new TypedSecrets(this.masks);

  type(fields: readonly Field[], at: number, secret = 'Hunter2-of-Alice', by = 'alice'): void {
    const field = treeOf(fields).children[at];
    if (field !== undefined) this.typed.add(field, { secret, by });
  }

  /** Returns the texts of the fields as they leave the host; null when hidden. */
  read(fields: readonly Field[]): (string | null)[] {
    const root = treeOf(fields);
    this.typed.noteTree(root);
    const hidden = hideMasked(root, this.masks.list(), { width: 100, height: 400 });
    return fields.map(({ y, text }) => (hidden.some(({ top }) => top === y) ? null : text));
  }
}

const at =
  (...ys: number[]) =>
  (...texts: string[]): Field[] =>
    texts.map((text, no) => ({ y: ys[no] ?? 0, text }));
const form = at(0, 30, 60);

describe('of fields without an ID, that of the secret alone is hidden', () => {
  it('while it stands where it was, whatever becomes of the texts', () => {
    const phone = new Phone();
    phone.type(form('Ada', '', ''), 1);
    expect(phone.read(form('Ada', 'Hunter2', ''))).toEqual(['Ada', null, '']);
    expect(phone.read(form('Ada', 'Hun', ''))).toEqual(['Ada', null, '']);
    expect(phone.read(form('Adam', 'Hun', ''))).toEqual(['Adam', null, '']);
    expect(phone.read(form('Adam', 'x', 'Graz'))).toEqual([null, null, null]);
  });

  it('also when all have moved with their texts, as when the keyboard comes', () => {
    const phone = new Phone();
    phone.type(form('Ada', '', 'Graz'), 1);
    phone.read(form('Ada', 'Hun', 'Graz'));
    const moved = at(100, 130, 160);
    expect(phone.read(moved('Ada', 'Hun', 'Graz'))).toEqual(['Ada', null, 'Graz']);
    expect(phone.read(moved('Ada', '', 'Graz'))).toEqual(['Ada', '', 'Graz']);
    expect(phone.read(moved('Ada', 'Ulm', 'Graz'))).toEqual(['Ada', 'Ulm', 'Graz']);
  });

  it('and all of them when nobody can tell which it is', () => {
    const phone = new Phone();
    phone.type(form('', '', ''), 1);
    phone.read(form('', 'Hun', ''));
    // The list has moved by one row: another field is in the place of each.
    expect(phone.read(form('', '', 'Hun'))).toEqual([null, null, null]);
    expect(phone.read(form('Hun', '', ''))).toEqual([null, null, null]);
    expect(phone.read(form('', 'Hun', ''))).toEqual(['', null, '']);
  });

  it('and one that is never told again is taken to be gone after ten minutes', () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    try {
      const phone = new Phone();
      phone.type(form('', '', ''), 1);
      phone.read(form('', 'Hun', ''));
      const other = at(200);
      expect(phone.read(other('Graz'))).toEqual([null]);
      vi.advanceTimersByTime(10 * 60_000 + 1);
      expect(phone.read(other('Graz'))).toEqual(['Graz']);
    } finally {
      vi.useRealTimers();
    }
  });
});

describe('a secret field that was out of view', () => {
  const named = (text: string): Field => ({ y: 30, text, id: 'com.shop:id/password' });

  it('is hidden when it comes back, until it is seen empty', () => {
    const phone = new Phone();
    phone.type([named('')], 0);
    expect(phone.read([named('Hunter2-of-Alic')])).toEqual([null]);
    // A dialog of the app, another page of it, or the end of a list.
    expect(phone.read([{ y: 0, text: 'Search', id: 'com.shop:id/search' }])).toEqual(['Search']);
    expect(phone.read([])).toEqual([]);
    expect(phone.read([named('Hunter2-of-Alic')])).toEqual([null]);
    expect(phone.read([named('')])).toEqual(['']);
    expect(phone.read([named('Graz')])).toEqual(['Graz']);
  });

  it('keeps others from the app again when it comes back', () => {
    const phone = new Phone();
    phone.type([named('')], 0);
    expect([...phone.typed.appsOfOthers('mallory')]).toEqual(['com.shop']);
    phone.read([]);
    expect([...phone.typed.appsOfOthers('mallory')]).toEqual([]);
    expect(phone.typed.areOfOthers('mallory')).toBe(true);
    phone.read([named('Hunter2')]);
    expect([...phone.typed.appsOfOthers('mallory')]).toEqual(['com.shop']);
    expect(phone.typed.areOfOthers('alice')).toBe(false);
  });

  it('is not taken for another one of the same ID, as rows of a list have', () => {
    const row = (y: number, text: string): Field => ({ y, text, id: 'com.shop:id/input' });
    const phone = new Phone();
    phone.type([row(0, ''), row(30, '')], 1);
    phone.read([row(0, ''), row(30, 'Hun')]);
    phone.read([row(0, 'x'), row(30, 'Hun')]);
    expect(phone.read([row(0, ''), row(30, 'Hun')])).toEqual([null, null]);
    phone.read([row(30, '')]);
    expect(phone.read([row(0, ''), row(30, 'Hun')])).toEqual([null, null]);
  });

  it('stays hidden however many secrets others type', () => {
    const phone = new Phone();
    phone.type([named('')], 0);
    const own: Field = { y: 90, text: '', id: 'com.shop:id/other' };
    for (let times = 0; times < 150; times += 1) phone.type([own], 0, 'secret-of-mallory', 'mallory');
    expect(phone.read([named('Hunter')])).toEqual([null]);
    expect(phone.masks.list().length).toBe(2 * 101);
  });
});
