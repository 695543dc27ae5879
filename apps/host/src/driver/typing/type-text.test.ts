import { defineApp, sampleApps, type SimulatedPhone, type View } from '@phalanx/simulated-phone';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { createPhoneTestBed, type PhoneTestBed } from '../../phones/testing/phone-test-bed.ts';
import type { Driver } from '../driver.ts';
import { PhoneUse } from '../phone-use.ts';

const packageName = 'com.example.fields';

/** Formats digits as (555) 123-4567. */
function asTelephone(text: string): string {
  const digits = text.replaceAll(/\D/g, '').slice(0, 10);
  if (digits.length < 4) return digits;
  const [area, first, last] = [digits.slice(0, 3), digits.slice(3, 6), digits.slice(6)];
  return `(${area}) ${first}${last === '' ? '' : `-${last}`}`;
}

/** Accepts one more character at a time, like apps that listen to keys. */
const keyByKey = (text: string, before: string): string => (text.length <= before.length + 1 ? text : before);

const singleFields: Record<string, (text: string, before: string) => string> = {
  telephone: asTelephone,
  capitals: (text) => text.toUpperCase(),
  keys: keyByKey,
  short: (text) => text.slice(0, 5),
  refusing: (_, before) => before,
  country: (text) => (text.startsWith('+1 ') ? text : '+1 '),
  locked: (text, before) => before || text,
};
const digits = [0, 1, 2, 3, 4, 5];

/**
 * Fields whose app changes what is typed, six boxes of one digit, and a page that moves on after the sixth character.
 */
const app = defineApp({
  packageName,
  label: 'Fields',
  icon: 'M0 0h24v24H0z',
  color: '#333333',
  state: (): { boxes?: NonNullable<View['field']>[] } => ({}),
  activities: {
    '.Fields': (context) => (ui) => {
      const frameOf = (row: number, [left, right] = [40, 1040]) => ({
        left,
        right,
        top: 300 + row * 160,
        bottom: 420 + row * 160,
      });
      const view = (id: string, field: ReturnType<typeof ui.field>, frame: ReturnType<typeof frameOf>) => ({
        className: 'android.widget.EditText',
        packageName,
        resourceId: `${packageName}:id/${id}`,
        frame,
        text: field.shownText,
        password: field.password,
        field,
        focused: ui.isFocused(field),
        onTap: () => ui.focus(field),
      });
      const single = Object.entries(singleFields).map(([id, edit], row) =>
        view(id, ui.field(id, { edit }), frameOf(row)),
      );
      const boxes = digits.map((index) =>
        ui.field(`box${index}`, {
          edit: (text) => text.slice(0, 1),
          onChange: (text) => {
            const next = text === '' ? undefined : context.state.boxes?.[index + 1];
            if (next !== undefined) ui.focus(next);
          },
        }),
      );
      context.state.boxes = boxes;
      const leaving = ui.field('leaving', {
        onChange: (text) => {
          if (text.length === 6) context.open('.Done');
        },
      });
      return {
        className: 'android.widget.FrameLayout',
        packageName,
        frame: { left: 0, top: 0, right: 1080, bottom: 2400 },
        children: [
          ...single,
          ...boxes.map((field, index) =>
            view(`box${index}`, field, frameOf(7, [40 + index * 170, 180 + index * 170])),
          ),
          view('leaving', leaving, frameOf(8)),
        ],
      };
    },
    '.Done': () => () => ({
      className: 'android.widget.FrameLayout',
      packageName,
      frame: { left: 0, top: 0, right: 1080, bottom: 2400 },
      children: [],
    }),
  },
});

describe.each(['uiautomator2', 'resident', 'dump'] as const)('a text that is typed by %s', (source) => {
  let bed: PhoneTestBed;
  let phone: SimulatedPhone;
  let driver: Driver;

  beforeAll(async () => {
    bed = await createPhoneTestBed();
    const started = await bed.startDriven(source, { apps: [...sampleApps, app] });
    phone = started.phone;
    driver = started.driver.usedBy(new PhoneUse(new AbortController().signal));
    await driver.call('app.launch', { packageName });
  });
  afterAll(() => bed.close());

  async function type(id: string, text: string): Promise<void> {
    const field = phone.android.stack.top.fields.get(id);
    if (field === undefined) throw new Error(`no field ${id}`);
    phone.android.focus(field);
    await driver.call('input.text', { text });
  }
  const shown = (id: string): string | undefined => phone.android.findFieldText(id);

  it('is taken in the form that its app gives it', async () => {
    await driver.call('screen.content', {});
    await type('telephone', '5551234567');
    expect(shown('telephone')).toBe('(555) 123-4567');
    await type('capitals', 'berlin');
    expect(shown('capitals')).toBe('BERLIN');
  });

  it('goes by key events where the field does not take it at once', async () => {
    await type('keys', 'Ada');
    expect(shown('keys')).toBe('Ada');
  });

  it('fills boxes of one digit', async () => {
    await type('box0', '482913');
    expect(digits.map((index) => shown(`box${index}`))).toEqual(['4', '8', '2', '9', '1', '3']);
  });

  it('is told with what the field shows when its app keeps a part of it, or nothing', async () => {
    await expect(type('short', '1234567')).rejects.toMatchObject({
      code: 'text_not_kept',
      message: expect.stringContaining('It shows "12345"'),
    });
    await expect(type('refusing', 'abc')).rejects.toMatchObject({ code: 'text_not_kept' });
  });

  it('is gone when its field is emptied, but for what is the own of its app', async () => {
    await type('capitals', 'x');
    await driver.call('input.clearText', {});
    expect(shown('capitals')).toBe('');
    await type('country', '+1 555');
    await driver.call('input.clearText', {});
    expect(shown('country')).toBe('+1 ');
  });

  // Skips `dump`, which takes seconds for each reading.
  it.skipIf(source === 'dump')('is said to be there where nobody can empty its field', async () => {
    await type('locked', '12345');
    await expect(driver.call('input.clearText', {})).rejects.toMatchObject({ code: 'text_not_kept' });
    expect(shown('locked')).toBe('12345');
  });

  it('is typed once when its app has taken it and gone on', async () => {
    await type('leaving', '123456');
    expect(phone.android.currentActivity).toContain('.Done');
    expect(phone.android.inputs.list().findLast(({ kind }) => kind === 'text')).toMatchObject({
      text: '123456',
    });
  });
});
