import { getEventListeners } from 'node:events';
import { afterEach, beforeEach, expect, it } from 'vitest';

import { watchAddress } from '../../adb/direct-tcp.ts';
import { loadHostKey } from '../../adb/host-key.ts';
import type { AdbConnection, LinkSource } from '../../adb/link.ts';
import { createPhoneTestBed, type PhoneTestBed } from '../../phones/testing/phone-test-bed.ts';
import { createPhoneShell, type PhoneShell } from '../shell/phone-shell.ts';
import { createFrameSource } from './frame-source.ts';

let bed: PhoneTestBed;
let source: LinkSource | undefined;
beforeEach(async () => {
  bed = await createPhoneTestBed();
});
afterEach(async () => {
  await source?.close();
  await bed.close();
});

it('keeps nothing of streams that have ended', async () => {
  const connected = Promise.withResolvers<AdbConnection>();
  source = watchAddress({
    address: await bed.startPhone({ serial: 'SIM1' }),
    key: await loadHostKey(bed.dataDir),
    onLink: ({ status }) => status.state === 'connected' && connected.resolve(status.connection),
  });
  const shell = createPhoneShell(await connected.promise);
  let signal = AbortSignal.abort();
  let opened = 0;
  const shells: PhoneShell = {
    ...shell,
    open: (_, closed) => {
      [signal, opened] = [closed, opened + 1];
      // Opens a service that ends at once.
      return shell.open('exec:true', closed);
    },
  };
  const frames = createFrameSource(shells);
  for (let n = 0; n < 5; n += 1) await expect(frames.next(new AbortController().signal)).rejects.toThrow();
  expect(opened).toBe(5);
  expect(getEventListeners(signal, 'abort')).toEqual([]);
  frames.close();
});
