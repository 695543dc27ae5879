import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { HostVideo, type ScreenMask, type VideoPlace } from '@phalanx/protocol';
import { makeScrcpyServer } from '@phalanx/simulated-phone';
import { Compile } from 'typebox/compile';
import { describe, expect, it } from 'vitest';
import type { Arrival } from '../../testing/read-frame.ts';
import { serial, useTestHost } from '../../testing/test-host.ts';
import { until } from '../../testing/until.ts';

const host = useTestHost();
const validator = Compile(HostVideo);
const masks: ScreenMask[] = [{ area: { left: 0, top: 0, right: 1, bottom: 0.1 } }];

async function openWith(server: Buffer): Promise<void> {
  const file = join(host.dataDir, 'scrcpy-server');
  await writeFile(file, server);
  await host.stop();
  await host.reopen({ PHALANX_SCRCPY_SERVER: file });
}

/** Requests the next packets from the host. */
async function ask(after: VideoPlace | null = null): Promise<{ video: HostVideo; bytes: Buffer }> {
  const request_id = randomUUID();
  host.service.send({ type: 'video', request_id, serial, after });
  const isAnswer = (arrival: Arrival): boolean => 'requestId' in arrival && arrival.requestId === request_id;
  await host.service.until(() => host.service.arrivals.some(isAnswer));
  const found = host.service.arrivals.find(isAnswer);
  if (found?.kind !== 'video') throw new Error(JSON.stringify(found));
  const end = found.bytes.indexOf('\n');
  const video: unknown = JSON.parse(found.bytes.toString('utf8', 0, end));
  if (!validator.Check(video)) throw new Error(found.bytes.toString('utf8', 0, end));
  return { video, bytes: found.bytes.subarray(end + 1) };
}

type Packets = Extract<HostVideo, { first: unknown }> & { bytes: Buffer };

/** Returns packets as soon as there are any. */
async function untilPackets(after: VideoPlace | null = null): Promise<Packets> {
  for (;;) {
    const { video, bytes } = await ask(after);
    if ('reason' in video) expect(video.reason).toBe('H.264 is starting');
    else if (video.packets.length > 0) return { ...video, bytes };
  }
}

/** Waits for a reason why there is no video, other than that it is starting. */
const untilReason = (): Promise<string> =>
  until(
    'a reason',
    async () => {
      const { video } = await ask();
      return 'reason' in video && video.reason !== 'H.264 is starting' ? video.reason : '';
    },
    Boolean,
  );

const lastOf = ({ first, packets }: Packets): VideoPlace => ({
  stream: first.stream,
  number: first.number + packets.length - 1,
});

/** Returns the first packets in landscape; packets of the upright phone may still be in flight. */
async function untilWide(after: Packets): Promise<Packets> {
  const next = await untilPackets(lastOf(after));
  return next.width > next.height ? next : untilWide(next);
}

const startApp = (package_name: string): void =>
  host.service.send({
    type: 'input',
    request_id: randomUUID(),
    serial,
    input: { type: 'launch_app', package_name },
  });

const untilStopped = (): Promise<number> =>
  until(
    'the end of the encoder',
    () => host.phone.encoderCount,
    (count) => count === 0,
  );

describe('a host with a scrcpy server', () => {
  it.each(['3.3.3', '4.1'])(
    'of version %s sends H.264 from a key frame on, then what comes after it, the key frame again to who comes later, and the other size when the phone is turned',
    async (version) => {
      await openWith(makeScrcpyServer(version));
      const first = await untilPackets();
      expect(first).toMatchObject({ width: 1080, height: 2400, codec: 'avc1.42C032' });
      expect(first.packets[0]?.is_key).toBe(true);
      // The stream begins with the sequence parameters.
      expect(first.bytes.subarray(0, 5).toString('hex')).toBe('0000000167');
      startApp('com.android.settings');
      const next = await untilPackets(lastOf(first));
      expect(next.first).toEqual({ stream: first.first.stream, number: lastOf(first).number + 1 });
      expect(next.bytes.length).toBe(next.packets.reduce((sum, { size_bytes }) => sum + size_bytes, 0));
      const late = await untilPackets();
      expect(late.packets[0]?.is_key).toBe(true);
      expect(late.first.stream).toBe(first.first.stream);
      expect(host.phone.encoderCount).toBe(1);
      const { settings } = host.phone.android;
      settings.put(settings.findTable('system') ?? new Map(), 'user_rotation', '1');
      host.phone.android.redraw();
      const turned = await untilWide(late);
      expect(turned).toMatchObject({ width: 2400, height: 1080 });
      expect(turned.packets[0]?.is_key).toBe(true);
    },
  );

  it('sends nothing while something is masked, and nothing of that time afterwards', async () => {
    await openWith(makeScrcpyServer('3.3.3'));
    const before = await untilPackets();
    const runId = host.launch('await new Promise((resolve) => setTimeout(resolve, 600_000));', serial, masks);
    expect(await untilReason()).toBe('a mask is active');
    await untilStopped();
    host.service.send({ type: 'stop', run_ids: [runId] });
    await host.service.untilEnded(runId);
    const after = await untilPackets(lastOf(before));
    expect(after.first.stream).not.toBe(before.first.stream);
    expect(after.packets[0]?.is_key).toBe(true);
    // The packets of a masked period are not sent either when no request came during it.
    const short = host.launch('', serial, masks);
    await host.service.untilEnded(short);
    const later = await untilPackets(lastOf(after));
    expect(later.first.stream).not.toBe(after.first.stream);
  });

  it('lets the phone rest when nobody asks, and when the cable is cut', async () => {
    await openWith(makeScrcpyServer('3.3.3'));
    await untilPackets();
    await untilStopped();
    await untilPackets();
    host.phone.faults.drop();
    await untilStopped();
    const hasVideo = (): Promise<boolean> =>
      ask().then(
        ({ video }) => 'first' in video && video.packets[0]?.is_key === true,
        // The phone is still away.
        () => false,
      );
    expect(await until('video after the cut', hasVideo)).toBe(true);
  });

  it('says why a phone encodes nothing', async () => {
    host.phone.faults.noVideoEncoder = true;
    await openWith(makeScrcpyServer('3.3.3'));
    expect(await untilReason()).toMatch(/^scrcpy stopped: Capture\/encoding error/);
    await openWith(makeScrcpyServer('4.9'));
    expect(await untilReason()).toContain('version 4.9, and 2.1 to 4.1 are known');
    await openWith(Buffer.from('something else'));
    expect(await untilReason()).toContain('unknown');
  });
});

it('a host without a scrcpy server says so', async () => {
  expect(await untilReason()).toBe('no scrcpy server on the host');
});
