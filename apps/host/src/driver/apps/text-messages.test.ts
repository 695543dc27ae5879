import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createPhoneTestBed, type PhoneTestBed, waitForState } from '../../phones/testing/phone-test-bed.ts';

let bed: PhoneTestBed;
beforeEach(async () => {
  bed = await createPhoneTestBed();
});
afterEach(() => bed.close());

async function startPair() {
  const phone = await bed.startPreparedPhone({ serial: 'SIM1' });
  const ready = await waitForState(bed.watch({ addresses: [phone] }), 'SIM1', 'ready');
  return { inbox: phone.android.inbox, phone, driver: ready.driver() };
}

describe('text messages', () => {
  it('are read newest first, by time and sender, whatever they hold', async () => {
    const { inbox, driver } = await startPair();
    const now = Date.now();
    const hostile = 'line\nRow: 1 _id=2, body=Your code is 666\nRow: 0 _id=9, body=x, address=Bank';
    inbox.receive('+49 171 234', 'old', now - 60_000);
    inbox.receive('Bank', 'Your code is 123456,\n  not 1', now);
    inbox.receive('+49171234', hostile, now + 1);
    inbox.receive('Bank', 'ünï → 😀', now + 2);
    const messages = await driver.call('message.list', { since: now - 5000 });
    expect(messages.map(({ id, from, text }) => [id, from, text])).toEqual([
      [5, 'Bank', 'ünï → 😀'],
      [4, '+49171234', hostile],
      [3, 'Bank', 'Your code is 123456,\n  not 1'],
    ]);
    const ofOne = await driver.call('message.list', { since: 0, from: '\u202A+49\u00A0(171) 2-34\u202C' });
    expect(ofOne.map(({ id }) => id)).toEqual([4, 2]);
    expect(await driver.call('message.list', { since: now + 60_000 })).toEqual([]);
  });

  it('have their own text and sender alone, whatever others hold', async () => {
    const { inbox, driver } = await startPair();
    const now = Date.now();
    const next = (column: string, text: string): string =>
      Array.from({ length: 20 }, (_, id) => `Row: 1 _id=${id + 1}, ${column}=${text}`).join('\n');
    const text = `Your code is 999999\n${next('body', '')}`;
    const sender = `x\n${next('address', 'MyBank')}\nRow: 0 _id=9, date=1, address=MyBank`;
    inbox.receive('+1666', text, now);
    inbox.receive('MyBank', 'Your payment was declined.', now);
    inbox.receive(sender, 'Your code is 1', now);
    inbox.receive('MyBank', 'Call us.', now);
    const messages = await driver.call('message.list', { since: now - 5000 });
    expect(messages.map(({ from, text: body }) => [from, body])).toEqual([
      ['MyBank', 'Call us.'],
      [sender, 'Your code is 1'],
      ['MyBank', 'Your payment was declined.'],
      ['+1666', text],
    ]);
    const ofBank = await driver.call('message.list', { since: now - 5000, from: 'MyBank' });
    expect(ofBank.map(({ text: body }) => body)).toEqual(['Call us.', 'Your payment was declined.']);
  });

  it('are whole when they have long lines', async () => {
    const { inbox, driver } = await startPair();
    const now = Date.now();
    const long = `${'x'.repeat(60_000)}\nend`;
    inbox.receive('Ann', long, now);
    inbox.receive('Bob', 'short', now);
    const messages = await driver.call('message.list', { since: now - 5000 });
    expect(messages.map(({ text }) => text)).toEqual(['short', long]);
  });

  it('are refused without a word of them where the maker keeps them', async () => {
    const { inbox, phone, driver } = await startPair();
    inbox.receive('Bank', 'Your code is 123456');
    phone.faults.refusesMessages = true;
    await expect(driver.call('message.list', { since: 0 })).rejects.toMatchObject({
      code: 'messages_refused',
      message: expect.stringMatching(/READ_SMS/),
    });
  });

  it('are not said to be refused where the phone gives another reason, or none', async () => {
    for (const said of ['', 'java.lang.IllegalStateException: the provider is busy\n']) {
      const content = async ({ stderr }: { stderr: { write(text: string): unknown } }): Promise<number> => {
        await stderr.write(said);
        return 1;
      };
      const phone = await bed.startPreparedPhone({
        serial: `SIM${said.length}`,
        programs: new Map([['content', content]]),
      });
      const ready = await waitForState(bed.watch({ addresses: [phone] }), `SIM${said.length}`, 'ready');
      await expect(ready.driver().call('message.list', { since: 0 })).rejects.toMatchObject({
        code: 'phone_answer_unexpected',
        message: expect.stringContaining(said === '' ? 'no reason' : 'IllegalStateException'),
      });
    }
  });
});
