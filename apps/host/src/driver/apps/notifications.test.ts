import type { SimulatedPhone } from '@phalanx/simulated-phone';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { createPhoneTestBed, type PhoneTestBed, waitForState } from '../../phones/testing/phone-test-bed.ts';
import type { Driver } from '../driver.ts';

type Options = Partial<Parameters<PhoneTestBed['startPreparedPhone']>[0]>;

let bed: PhoneTestBed;
beforeEach(async () => {
  bed = await createPhoneTestBed();
});
afterEach(() => bed.close());

async function startPair(
  options: Options = {},
): Promise<{ phone: SimulatedPhone; driver: Driver; list: () => Promise<unknown> }> {
  const phone = await bed.startPreparedPhone({ serial: 'SIM1', ...options });
  const ready = await waitForState(bed.watch({ addresses: [phone] }), 'SIM1', 'ready');
  phone.android.notices.notifications.length = 0;
  const driver = ready.driver();
  return { phone, driver, list: () => driver.call('notification.list', {}) };
}

const record =
  '    NotificationRecord(0x0a1b2c3d: pkg=com.bank user=UserHandle{0} id=1 tag=null importance=3 key=0|com.bank|1|null|10101: Notification(channel=C))\n';
const forged = `hi\n${record}                android.title=String (Code)\n                android.text=String (111111`;
/** Forgery by a sender who knows the record of an app: all lines between the ticker and the text. */
const wholeRecord =
  'hi\n            vis=0\n            contentView=null\n            color=0x00000000\n            extras={\n                android.title=String (Bob)\n                android.appInfo=ApplicationInfo (ApplicationInfo{0 app})\n                android.text=String (Your code is 1)';

describe.each([15, 8] as const)('on Android %i, notifications', (android) => {
  it('are those that apps posted, whatever a sender wrote', async () => {
    const { phone, list } = await startPair({ android });
    const { notices } = phone.android;
    const ends = ['\n  mAAAAx', '\n  \n  mxxx'].map((start) => `${start}: and so on`);
    const texts = [
      ...ends,
      forged,
      'hi\n  mArchive=Archive (0 notifications)',
      'two\nlines',
      'a) b',
      '',
      wholeRecord,
    ];
    for (const text of texts) notices.post({ packageName: 'com.chat', title: 'Ann', text, ticker: text });
    notices.post({ packageName: 'com.chat', title: forged, text: '😀 ünï' });
    notices.post({ packageName: 'com.bank', title: 'Bank', text: 'Your code is 222222' });
    // Without lengths, a text with all the lines of a record can't be told from one, so it is left out.
    const told = texts.filter((text) => android >= 10 || text !== wholeRecord);
    const titled = told.map((text) => ({ packageName: 'com.chat', title: 'Ann', text }));
    expect(await list()).toEqual([
      ...titled,
      { packageName: 'com.chat', title: forged, text: '😀 ünï' },
      { packageName: 'com.bank', title: 'Bank', text: 'Your code is 222222' },
    ]);
  });

  it('have the title that the app gave, not one of a line of its text', async () => {
    const { phone, list } = await startPair({ android });
    const text = 'To Bob\n                android.title=String (Your code is 333333)';
    phone.android.notices.post({ packageName: 'com.bank', title: 'Transfer', text });
    expect(await list()).toEqual([{ packageName: 'com.bank', title: 'Transfer', text }]);
  });

  it('have the texts of the shade, not those of the lock screen', async () => {
    const { phone, list } = await startPair({ android });
    const publicVersion = { title: 'Hidden', text: 'A message' };
    phone.android.notices.post({ packageName: 'com.chat', title: 'Ann', text: 'Lunch?', publicVersion });
    expect(await list()).toEqual([{ packageName: 'com.chat', title: 'Ann', text: 'Lunch?' }]);
  });

  it('are none where nothing is in the shade', async () => {
    const { list } = await startPair({ android });
    expect(await list()).toEqual([]);
  });
});

describe('notifications', () => {
  it('are not told with the line of a list in place of a text', async () => {
    const { phone, list } = await startPair();
    const lines = ['x\n                android.text=String (Your code)', 'y'];
    phone.android.notices.post({ packageName: 'com.chat', title: 'Ann', text: '2 messages', lines });
    expect(await list()).toEqual([{ packageName: 'com.chat', title: 'Ann', text: '2 messages' }]);
  });

  it('are not forged by the words on the buttons of an app', async () => {
    const { phone, list } = await startPair();
    const { notices } = phone.android;
    notices.post({ packageName: 'com.evil', title: 'Code', text: '111111', actions: [`x\n${record}`] });
    expect(await list()).toEqual([{ packageName: 'com.evil', title: 'Code', text: '111111' }]);
  });

  it('are an error where the tag of one hides where it ends', async () => {
    const { phone, list } = await startPair();
    phone.android.notices.post({ packageName: 'com.evil', title: 'Code', text: '1', tag: `x\n${record}` });
    await expect(list()).rejects.toMatchObject({
      code: 'phone_answer_unexpected',
      message: expect.stringContaining('com.evil has one whose tag holds a line end'),
    });
  });

  it('may have any other tag', async () => {
    const { phone, list } = await startPair();
    const tag = 'a importance=3 key=0|com.chat|1|a';
    phone.android.notices.post({ packageName: 'com.chat', title: 'Ann', text: 'hi', tag });
    expect(await list()).toEqual([{ packageName: 'com.chat', title: 'Ann', text: 'hi' }]);
  });

  it('are an error while the phone has no service that tells them', async () => {
    const { phone, list } = await startPair();
    phone.faults.missingServices = ['notification'];
    await expect(list()).rejects.toMatchObject({
      code: 'phone_answer_unexpected',
      message: expect.stringContaining("Can't find service: notification"),
    });
  });
});
