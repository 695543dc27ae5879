/**
 * Cuts of the resident helper's stream at any byte: the process ends, no finger stays down, and nothing could connect
 * to it meanwhile.
 *
 * `CUTS=1000 npm run test:world -- helper-cuts --testTimeout=3600000` cuts a thousand times.
 */
import { once } from 'node:events';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import type { Program } from '@phalanx/simulated-phone';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, test } from 'vitest';
import { createPhoneTestBed, type PhoneTestBed, waitForState } from '../../phones/testing/phone-test-bed.ts';
import { encodeFrame, requestKind } from './helper-link.ts';
import { helperTools, type ShippedBytes, translateBack } from './testing/shipped-bytes.ts';

const cuts = Number(process.env['CUTS'] ?? 12);
const adbdRoot = process.env['TEST_ADBD_ROOT'] ?? '';
const maxGestureMs = 120;

/** Returns random numbers below `limit`, reproducible by the seed. */
function dice(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}

function gestureOf(fingers: number, durationMs: number): Buffer {
  const payload = Buffer.alloc(13 + 16 * fingers);
  payload.writeInt32BE(durationMs, 8);
  payload.writeUInt8(fingers, 12);
  for (let finger = 0; finger < fingers; finger += 1) payload.writeInt32BE(100, 13 + 16 * finger + 8);
  return payload;
}

/** Returns random frames of a host, mostly gestures. */
function talk(roll: (limit: number) => number): Buffer {
  const frames: { readonly kind: number; readonly payload: Buffer }[] = [
    { kind: requestKind.hello, payload: Buffer.alloc(0) },
  ];
  for (let count = 4 + roll(12); count > 0; count -= 1)
    frames.push(
      roll(4) === 0
        ? { kind: requestKind.read, payload: Buffer.from([roll(2), 0]) }
        : { kind: requestKind.gesture, payload: gestureOf(1 + roll(3), roll(maxGestureMs)) },
    );
  return Buffer.concat(frames.map((frame, id) => encodeFrame({ ...frame, id: id + 1 })));
}

/** Counts the fingers that came down and did not leave the screen, as the doubles report. */
function fingersDown(said: string): number {
  let down = 0;
  for (const [, action = ''] of said.matchAll(/^touch (pointer down|pointer up|down|up|cancel)/gm)) {
    if (action.endsWith('down')) down += 1;
    else if (action === 'cancel') down = 0;
    else down -= 1;
  }
  return down;
}

/** Whether a process has a listening socket, as Linux reports. */
function listens(pid: number): boolean {
  const own = new Set(
    readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
      try {
        return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1] ?? [];
      } catch {
        return [];
      }
    }),
  );
  const listening = ['tcp', 'tcp6'].flatMap((kind) =>
    readFileSync(`/proc/${pid}/net/${kind}`, 'utf8')
      .split('\n')
      .map((line) => line.trim().split(/\s+/))
      .filter(([, , , state]) => state === '0A')
      .map(([, , , , , , , , , inode = '']) => inode),
  );
  const unix = readFileSync(`/proc/${pid}/net/unix`, 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    // __SO_ACCEPTCON
    .filter(([, , , flags]) => flags === '00010000')
    .map(([, , , , , , inode = '']) => inode);
  return [...listening, ...unix].some((inode) => own.has(inode));
}

let shipped: ShippedBytes | undefined;

function start(...args: string[]): ReturnType<ShippedBytes['start']> {
  if (shipped === undefined) throw new Error('There are bytes only while a test runs');
  return shipped.start('34', { sdk: '34', fault: '' }, ...args);
}

if (helperTools === '') test.skip('cuts of the resident helper');
else
  describe('the resident helper that is shipped, cut', () => {
    beforeAll(() => {
      shipped = translateBack('34');
    });
    afterAll(() => shipped?.remove());

    it('tier 3, at any byte of its own stream, ends at once and lifts the fingers', async () => {
      const endedMs: number[] = [];
      let inTouch = 0;
      for (let cut = 1; cut <= cuts; cut += 1) {
        const roll = dice(cut);
        const bytes = talk(roll);
        const child = start('abc');
        const said = readText(child.stderr);
        child.stdout.resume();
        child.stdin.write(encodeFrame({ kind: requestKind.hello, id: 1, payload: Buffer.alloc(0) }));
        await once(child.stdout, 'data');
        if (cut === 1) expect(listens(child.pid ?? 0)).toBe(false);
        child.stdin.write(bytes.subarray(0, 1 + roll(bytes.length)));
        await pause(roll(3 * maxGestureMs));
        const exited = once(child, 'exit');
        const cutAt = performance.now();
        child.stdin.destroy();
        const [code] = (await exited) as [number | null];
        endedMs.push(performance.now() - cutAt);
        expect([0, 2], `seed ${cut}: ${await said}`).toContain(code);
        expect(fingersDown(await said), `seed ${cut}: ${await said}`).toBe(0);
        if (/^touch cancel/m.test(await said)) inTouch += 1;
      }
      expect(inTouch, 'cuts while a finger was down').toBeGreaterThan(0);
      endedMs.sort((a, b) => a - b);
      console.log(
        `${cuts} cuts, ${inTouch} with a finger down: gone after ${endedMs[cuts >> 1]?.toFixed(0)} ms in the median, ${endedMs.at(-1)?.toFixed(0)} at most`,
      );
    });

    describe('tier 4, behind the real adbd', () => {
      let bed: PhoneTestBed;
      beforeEach(async () => {
        bed = await createPhoneTestBed();
      });
      afterEach(async () => {
        await bed.close();
      });

      it.skipIf(adbdRoot === '')(
        'when the cable breaks at any byte, it ends, lifts the fingers, and is started anew',
        async () => {
          const ends: { code: number | null; said: string }[] = [];
          const onJvm: Program = async ({ args: [, , build = ''], stdin, stdout }) => {
            const child = start(build);
            const said = readText(child.stderr);
            const exited = once(child, 'exit');
            stdin.on('data', (chunk: Buffer) => child.stdin.write(chunk));
            stdin.once('close', () => child.stdin.end());
            for await (const chunk of child.stdout) await stdout.write(chunk as Buffer).catch(() => {});
            const [code] = (await exited) as [number | null];
            ends.push({ code, said: await said });
            return code ?? 137;
          };
          const phone = await bed.startPhone({
            serial: 'SIM1',
            programs: new Map([['app_process', onJvm]]),
          });
          const cable = await startCable((await bed.startRealAdbd(phone, adbdRoot)).port);
          const watch = bed.watch({
            addresses: [{ host: '127.0.0.1', port: cable.port }],
            helper: 'resident',
            timings: { heartbeatMs: 5000, probeTimeoutMs: 20_000 },
          });
          for (let cut = 1; cut <= Math.ceil(cuts / 4); cut += 1) {
            const roll = dice(cut);
            const ready = await waitForState(watch, 'SIM1', 'ready');
            expect(ready.driver().source).toBe('resident');
            const driver = ready.driver();
            await driver.call('screen.content', {});
            cable.cutAfter(1 + roll(1500));
            const swipe = (): Promise<boolean> => {
              const to = { toX: roll(1000), toY: roll(1000), durationMs: 1 + roll(maxGestureMs) };
              return driver.call('input.swipe', { fromX: 1, fromY: 1, ...to }).then(
                () => true,
                () => false,
              );
            };
            while (await swipe());
            await expect.poll(() => ends.length, { timeout: 60_000 }).toBe(cut);
            const end = ends.at(-1);
            expect(fingersDown(end?.said ?? 'touch down'), `seed ${cut}: ${end?.said}`).toBe(0);
            expect([0, 2]).toContain(end?.code);
          }
          cable.close();
        },
      );
    });
  });

/** Cable that can be cut after a number of bytes to the phone. */
async function startCable(phonePort: number): Promise<{
  readonly port: number;
  cutAfter(bytes: number): void;
  close(): void;
}> {
  let left = Infinity;
  const ends = new Set<Socket>();
  const cut = (): void => {
    left = Infinity;
    for (const end of ends) end.destroy();
  };
  const server = createServer({ noDelay: true }, (near) => {
    const far = connect({ host: '127.0.0.1', port: phonePort, noDelay: true });
    for (const end of [near, far]) {
      ends.add(end);
      end.on('error', () => {});
      end.once('close', () => {
        ends.delete(end);
        near.destroy();
        far.destroy();
      });
    }
    far.pipe(near);
    near.on('data', (chunk: Buffer) => {
      const passed = Math.min(left, chunk.length);
      left -= passed;
      far.write(chunk.subarray(0, passed), () => {
        if (left === 0) cut();
      });
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    cutAfter: (bytes) => void (left = bytes),
    close() {
      server.close();
      cut();
    },
  };
}
