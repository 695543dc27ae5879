import { describe, expect, it } from 'vitest';
import { createPhoneTestBed, waitForPhone, waitForState } from '../testing/phone-test-bed.ts';
import { StartQueue, type StartQueueOptions, type Turn, type TurnRequest } from './start-queue.ts';

const known: TurnRequest = { rank: 'known', signal: new AbortController().signal, onWait: () => {} };

/** Starts named jobs that run until they are told to end. */
function startsOf(options: StartQueueOptions) {
  const queue = new StartQueue({ turnMs: 60_000, ...options });
  const begun: string[] = [];
  const turns = new Map<string, Turn>();
  const finish = new Map<string, () => void>();
  const start = (name: string, request: Partial<TurnRequest> = {}): Promise<void> =>
    queue.run({ ...known, ...request }, async (turn) => {
      begun.push(name);
      turns.set(name, turn);
      await new Promise<void>((resolve) => finish.set(name, resolve));
    });
  const finished = async (name: string): Promise<void> => {
    finish.get(name)?.();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { begun, turns, start, finished };
}

describe('the turns of starting phones', () => {
  it('are so many at a time, in the order of their coming', async () => {
    const { begun, start, finished } = startsOf({ atOnce: 2 });
    const all = ['a', 'b', 'c', 'd'].map((name) => start(name));
    expect(begun).toEqual(['a', 'b']);
    await finished('b');
    expect(begun).toEqual(['a', 'b', 'c']);
    await finished('a');
    expect(begun).toEqual(['a', 'b', 'c', 'd']);
    await finished('c');
    await finished('d');
    await Promise.all(all);
  });

  it('are waited for by those alone that have to', async () => {
    const { start, finished } = startsOf({ atOnce: 1 });
    const waited: string[] = [];
    void start('a', { onWait: () => waited.push('a') });
    void start('b', { onWait: () => waited.push('b') });
    await finished('a');
    expect(waited).toEqual(['b']);
  });

  it('come first to phones in use, then to known ones, and within a rank in their order', async () => {
    const { begun, start, finished } = startsOf({ atOnce: 1 });
    void start('first');
    for (const rank of ['unknown', 'known', 'in_use'] as const)
      for (const name of [`${rank} 1`, `${rank} 2`]) void start(name, { rank });
    const order = ['first', 'in_use 1', 'in_use 2', 'known 1', 'known 2', 'unknown 1', 'unknown 2'];
    for (const name of order) await finished(name);
    expect(begun).toEqual(order);
  });

  it('are handed on once by a start that ended its turn, and then fails', async () => {
    const queue = new StartQueue({ atOnce: 1, turnMs: 60_000 });
    const first = queue.run(known, async (turn) => {
      turn.end();
      throw new Error('it broke');
    });
    await expect(first).rejects.toThrow('it broke');
    const { promise: held, resolve: release } = Promise.withResolvers<void>();
    let isSecondBegun = false;
    const one = queue.run(known, () => held);
    const two = queue.run(known, async () => void (isSecondBegun = true));
    await new Promise((resolve) => setImmediate(resolve));
    expect(isSecondBegun).toBe(false);
    release();
    await Promise.all([one, two]);
  });

  it('go to the next one when a start takes too long', async () => {
    const { begun, start } = startsOf({ atOnce: 1, turnMs: 20 });
    void start('hangs');
    void start('hangs too');
    void start('c');
    await expect.poll(() => begun).toEqual(['hangs', 'hangs too', 'c']);
  });

  it('are not waited for by a phone that is gone', async () => {
    const { begun, start, finished } = startsOf({ atOnce: 1 });
    const gone = new AbortController();
    void start('a');
    const left = start('b', { signal: gone.signal });
    void start('c');
    gone.abort(new Error('unplugged'));
    await expect(left).rejects.toThrow('unplugged');
    await finished('a');
    expect(begun).toEqual(['a', 'c']);
  });
});

describe('phones that are found together', () => {
  it('are asked and started one after the other', async () => {
    const bed = await createPhoneTestBed();
    try {
      const serials = ['SIM1', 'SIM2', 'SIM3', 'SIM4'];
      const phones = await Promise.all(serials.map((serial) => bed.startPreparedPhone({ serial })));
      for (const phone of phones) phone.faults.bootNotCompleted = true;
      const watch = bed.watch({ addresses: phones, starts: { atOnce: 1, turnMs: 60_000 } });
      for (const serial of serials) await waitForState(watch, serial, 'booting');
      const unasked: number[] = [];
      watch.onChange(({ state: { reason } }) => {
        if (reason === 'Starting the UI helper on the phone.')
          unasked.push(watch.phones().filter(({ description }) => description === undefined).length);
      });
      for (const phone of phones) phone.faults.bootNotCompleted = false;
      for (const serial of serials) await waitForState(watch, serial, 'ready');
      // A phone that connects during the turn of another one has not been asked yet.
      expect(unasked).toEqual([4, 3, 2, 1]);
    } finally {
      await bed.close();
    }
  });

  it('are ready while one of them hangs in its start', async () => {
    const bed = await createPhoneTestBed();
    try {
      const serials = ['SIM1', 'SIM2', 'SIM3'];
      const phones = await Promise.all(serials.map((serial) => bed.startPreparedPhone({ serial })));
      const watch = bed.watch({ addresses: phones, starts: { atOnce: 1, turnMs: 100 } });
      let hanging: string | undefined;
      watch.onChange(({ serial, state: { reason } }) => {
        if (reason !== 'Starting the UI helper on the phone.') return;
        hanging ??= serial;
        const phone = phones.find((one) => one.serial === serial);
        if (phone !== undefined && serial === hanging) phone.faults.hang = true;
      });
      const readyNow = (): number => watch.phones().filter(({ state }) => state.state === 'ready').length;
      await waitForPhone(watch, () => readyNow() === 2);
      expect(hanging).toBeDefined();
      expect(watch.find(hanging ?? '')?.state.state).not.toBe('ready');
    } finally {
      await bed.close();
    }
  });
});
