import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createPhoneTestBed, type PhoneTestBed, waitForPhone } from './testing/phone-test-bed.ts';

let bed: PhoneTestBed;
beforeEach(async () => {
  bed = await createPhoneTestBed();
});
afterEach(() => bed.close());

/** Limit of memory per phone, in bytes: three times what a phone takes. */
const generousBytes = 1024 * 1024;

const collectGarbage = ((): (() => void) => {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  return typeof collect === 'function' ? () => void collect() : () => {};
})();

/** Returns the memory in use after a garbage collection, in bytes. */
async function heldBytes(): Promise<number> {
  collectGarbage();
  await new Promise((resolve) => setTimeout(resolve, 100));
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

it('a ready phone holds little, on its side and on the host, also after its helper was installed and pictures were taken', async () => {
  const readyOf = async (count: number, prefix: string, isPrepared: boolean) => {
    const start = (serial: string) =>
      isPrepared ? bed.startPreparedPhone({ serial }) : bed.startPhone({ serial });
    const serials = Array.from({ length: count }, (_, index) => `${prefix}${index}`);
    const watch = bed.watch({
      addresses: await Promise.all(serials.map((serial) => start(serial))),
      timings: { heartbeatMs: 60_000, probeTimeoutMs: 60_000 },
    });
    await waitForPhone(watch, () => {
      const states = watch.phones().map(({ state }) => state.state);
      return states.length === count && states.every((state) => state === 'ready');
    });
    for (const phone of watch.phones())
      await (await phone.driver().takePictureOf({ root: undefined, form: { maxWidth: 360 } }))?.finish();
  };
  await readyOf(1, 'WARM', false);
  const before = await heldBytes();
  await readyOf(100, 'SIM', true);
  const prepared = await heldBytes();
  expect((prepared - before) / 100).toBeLessThan(generousBytes);
  await readyOf(8, 'NEW', false);
  expect((await heldBytes()) - prepared).toBeLessThan(8 * generousBytes);
});
