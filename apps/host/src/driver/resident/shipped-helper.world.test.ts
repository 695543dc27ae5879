import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text as readText } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { decodeTrees, decodeWindows, inflateTrees } from './decode-tree.ts';
import { answerKind, encodeFrame, type Frame, readFrames, requestKind, watchKind } from './helper-link.ts';
import {
  type Ground,
  helperFolder,
  helperTools,
  runTool,
  type ShippedBytes,
  shippedDex,
  translateBack,
} from './testing/shipped-bytes.ts';

const nothing = Buffer.alloc(0);
let shipped: ShippedBytes | undefined;

interface Helper {
  ask(kind: number, payload?: Buffer): Promise<Frame>;
  /** Sends raw bytes, and then ends the stream. */
  end(bytes?: Buffer): Promise<{ code: number | null; said: string }>;
  readonly changes: Frame[];
}

function startHelper(on: Ground, properties: Record<string, string>, ...args: string[]): Helper {
  if (shipped === undefined) throw new Error('There are bytes only while a test runs');
  const child = shipped.start(on, properties, 'abc', ...args);
  const said = readText(child.stderr);
  const frames = readFrames(child.stdout);
  const changes: Frame[] = [];
  let lastId = 0;
  return {
    changes,
    async ask(kind, payload = nothing) {
      child.stdin.write(encodeFrame({ kind, id: (lastId += 1), payload }));
      for (;;) {
        const { value, done } = await frames.next();
        if (done === true) throw new Error(`The helper ended: ${await said}`);
        if (value.kind !== answerKind.changed) {
          expect(value.id).toBe(lastId);
          return value;
        }
        changes.push(value);
      }
    },
    async end(bytes = nothing) {
      child.stdin.end(bytes);
      const [code] = (await once(child, 'exit')) as [number | null];
      return { code, said: await said };
    },
  };
}

const read = (allWindows = false): Buffer => Buffer.from([allWindows ? 1 : 0, 0]);

function gestureOf(fingers: number, durationMs: number): Buffer {
  const payload = Buffer.alloc(13 + 16 * fingers);
  payload.writeInt32BE(durationMs, 8);
  payload.writeUInt8(fingers, 12);
  for (let finger = 0; finger < fingers; finger += 1) payload.writeInt32BE(100, 13 + 16 * finger + 8);
  return payload;
}

function key(code: number): Buffer {
  const payload = Buffer.alloc(8);
  payload.writeInt32BE(code, 0);
  return payload;
}

if (helperTools === '') test.skip('the resident helper that is shipped');
else
  describe('the resident helper that is shipped', () => {
    beforeAll(() => {
      shipped = translateBack('fake', '26', '34');
    });
    afterAll(() => shipped?.remove());

    it('is what its sources give', () => {
      const again = join(shipped?.work ?? '', 'again.dex');
      runTool(join(helperFolder, 'build.sh'), helperTools, again);
      expect(readFileSync(again).equals(readFileSync(shippedDex))).toBe(true);
    });

    describe('tiers 1 and 2, its core on a made-up screen', () => {
      const start = (properties: Record<string, string> = {}): Helper =>
        startHelper('fake', properties, 'dev.phalanx.helper.FakeScreen');

      it('tells trees that the host reads, and the same one shortly', async () => {
        const helper = start();
        expect((await helper.ask(requestKind.hello)).payload.toString()).toBe('1 99 abc');
        const first = await helper.ask(requestKind.read, read());
        const golden = readFileSync(join(helperFolder, 'testing/golden/list.tree'));
        expect(inflateTrees(first.payload).equals(golden)).toBe(true);
        const { rotation, roots, announced } = decodeTrees(inflateTrees(first.payload));
        expect({ rotation, announced }).toEqual({ rotation: 1, announced: [] });
        expect(roots[0]).toMatchObject({ boundsInScreen: { left: -5, top: 7, right: 1075, bottom: 97 } });
        expect(roots[0]?.children.map(({ text }) => text)).toEqual([
          'Zeile 0 日本 😀',
          null,
          'Zeile 2 日本 😀',
        ]);
        expect(roots[0]?.children[1]).toMatchObject({ hintText: 'A hint', inputType: '129', index: 1 });
        expect((await helper.ask(requestKind.read, read())).kind).toBe(answerKind.same);
        const both = decodeTrees(inflateTrees((await helper.ask(requestKind.read, read(true))).payload));
        expect(both.roots).toHaveLength(2);
        expect((await helper.end()).code).toBe(0);
      });

      it('tells windows without their trees', async () => {
        const helper = start();
        const told = (await helper.ask(requestKind.windows)).payload;
        const area = (top: number) => ({ left: -5, top, right: 1075, bottom: 97 });
        expect(decodeWindows(inflateTrees(told))).toEqual([
          { packageName: 'com.example.keyboard', isKeyboard: true, areas: [area(60)] },
          { packageName: 'com.example', isKeyboard: false, areas: [area(0)] },
        ]);
        await helper.end();
      });

      it('cuts what has more nodes than any screen', async () => {
        const helper = start({ rows: '30000' });
        const tree = inflateTrees((await helper.ask(requestKind.read, read())).payload);
        expect(tree.at(-1)).toBe(1);
        await helper.end();
      });

      it('keeps to frames whatever a library prints, and answers errors by their word', async () => {
        const helper = start();
        expect((await helper.ask(requestKind.key, key(3))).kind).toBe(answerKind.ok);
        const refusals = [await helper.ask(requestKind.key, key(1)), await helper.ask(requestKind.key)];
        expect(refusals.map(({ kind }) => kind)).toEqual([answerKind.error, answerKind.error]);
        expect(refusals.map(({ payload }) => payload.toString().split(':')[0])).toEqual([
          'input_refused',
          'bad_request',
        ]);
        expect((await helper.ask(77)).payload.toString()).toMatch(/^bad_request/);
        expect((await helper.ask(requestKind.gesture, gestureOf(11, 0))).payload.toString()).toMatch(
          /^bad_request/,
        );
        expect((await helper.ask(requestKind.picture, Buffer.from([0, 0x10, 0, 0, 0]))).payload).toHaveLength(
          1 << 20,
        );
        expect((await helper.end()).said).toContain('a library prints');
      });

      it('tells once that something changed, and again after the next reading', async () => {
        const helper = start();
        await helper.ask(requestKind.watch, Buffer.from([1]));
        const change = async (): Promise<number> => {
          const before = helper.changes.length;
          await helper.ask(requestKind.setText, Buffer.from('x'));
          await helper.ask(requestKind.setText, Buffer.from('y'));
          await expect
            .poll(async () => (await helper.ask(requestKind.hello), helper.changes.length))
            .toBe(before + 1);
          return helper.changes.length;
        };
        expect(await change()).toBe(1);
        expect(helper.changes[0]?.payload.readUInt32BE(0)).toBe(2048 | 16);
        await helper.ask(requestKind.read, read());
        expect(await change()).toBe(2);
        await helper.end();
      });

      it('looks at the screen by itself for as long as the host wants it', async () => {
        const helper = start();
        const toldOf = async (): Promise<number> => (
          await helper.ask(requestKind.hello),
          helper.changes.length
        );
        const become = (text: string): Promise<Frame> => helper.ask(requestKind.setText, Buffer.from(text));
        await helper.ask(requestKind.read, read());
        await helper.ask(requestKind.read, read(true));
        await helper.ask(requestKind.watch, Buffer.from([watchKind.tellAndLook]));
        await pause(2000);
        expect(await toldOf()).toBe(0);
        for (const [told, text] of ['untold', 'untold, no root'].entries()) {
          await become(text);
          await expect.poll(toldOf, { timeout: 3000 }).toBe(told + 1);
          await helper.ask(requestKind.read, read());
        }
        await helper.ask(requestKind.watch, Buffer.from([watchKind.tell]));
        await become('untold again');
        await pause(2000);
        expect(await toldOf()).toBe(2);
        await helper.end();
      });

      it.each([
        { what: 'the end of the stream', bytes: nothing, code: 0 },
        {
          what: 'a frame that is cut',
          bytes: encodeFrame({ kind: 2, id: 1, payload: read() }).subarray(0, 7),
          code: 2,
        },
        { what: 'a length that no host sends', bytes: Buffer.from('ffffffff0000', 'hex'), code: 2 },
        { what: 'a length of nothing', bytes: Buffer.from('0000000000', 'hex'), code: 2 },
      ])('ends by $what, with all fingers lifted', async ({ bytes, code }) => {
        const helper = start();
        await helper.ask(requestKind.hello);
        const end = await helper.end(bytes);
        expect(end.code).toBe(code);
        expect(end.said).toContain('fingers lifted');
      });
    });

    describe.each(['26', '34'] as const)('tier 3, its Android part on doubles of API level %s', (sdk) => {
      const start = (fault: string): Helper => startHelper(sdk, { sdk, fault });

      it('connects, reads past what Android keeps, types, and uses the clipboard', async () => {
        const helper = start('');
        for (const reads of [1, 2]) {
          const { payload } = await helper.ask(requestKind.read, read());
          const { roots, rotation } = decodeTrees(inflateTrees(payload));
          expect(rotation).toBe(1);
          expect(roots[0]?.children).toMatchObject([
            { text: `forgotten ${reads}`, hintText: 'Name', inputType: '1' },
          ]);
        }
        expect(
          decodeTrees(inflateTrees((await helper.ask(requestKind.read, read())).payload)).announced,
        ).toEqual(['Saved']);
        expect((await helper.ask(requestKind.field)).payload.toString()).toBe('0typed');
        await helper.ask(requestKind.setText, Buffer.from('né'));
        await helper.ask(requestKind.writeClipboard, Buffer.from('clip é'));
        expect((await helper.ask(requestKind.readClipboard)).payload.toString()).toBe('clip é');
        await helper.ask(requestKind.release);
        const { said } = await helper.end();
        expect(said).toMatch(/connected by connect\w* 1\n[^]*action \d+ né[^]*disconnected/);
      });

      it('tells windows, and has Android look after them while they are asked for', async () => {
        const helper = start('');
        for (let touch = 0; touch < 3; touch += 1) {
          await helper.ask(requestKind.read, read());
          const told = (await helper.ask(requestKind.windows)).payload;
          expect(decodeWindows(inflateTrees(told))).toMatchObject([
            {
              packageName: expect.stringContaining('.'),
              areas: [{ left: -3, top: 5, right: 100, bottom: 50 }],
            },
          ]);
        }
        const { said } = await helper.end();
        expect(said.match(/^flags \d+$/gm)).toHaveLength(2);
      });

      it('gives UiAutomation back after ten seconds, whatever the host asks to know that it lives', async () => {
        const helper = start('');
        await helper.ask(requestKind.read, read());
        for (let second = 0; second < 13; second += 1) {
          await pause(1000);
          await helper.ask(requestKind.hello);
        }
        expect((await helper.end()).said).toContain('disconnected');
      });

      it('waits for a UiAutomation that another program has, and for a root', async () => {
        for (const fault of ['registered twice', 'late root']) {
          const helper = start(fault);
          expect((await helper.ask(requestKind.read, read())).kind).toBe(answerKind.tree);
          await helper.end();
        }
        const helper = start('no root');
        expect((await helper.ask(requestKind.read, read())).payload.toString()).toMatch(
          /^no_root: .*1 windows/,
        );
        await helper.end();
      });

      it('moves fingers together, and says that input is refused', async () => {
        const helper = start('');
        await helper.ask(requestKind.gesture, gestureOf(2, 30));
        const { said } = await helper.end();
        expect(said).toMatch(
          /down 0 0,0.*\n.*pointer down 1.*\n[^]*move 0 100,0 100,0.*\n.*pointer up 1.*\n.*up 0 100,0/,
        );
        const refusing = start('no injecting');
        expect((await refusing.ask(requestKind.gesture, gestureOf(1, 0))).payload.toString()).toMatch(
          /^input_refused.*INJECT/,
        );
        await refusing.end();
      });

      it('lifts the finger when the stream ends in the middle of a gesture, or Android refuses it', async () => {
        const helper = start('');
        await helper.ask(requestKind.hello);
        const { said, code } = await helper.end(
          encodeFrame({ kind: requestKind.gesture, id: 9, payload: gestureOf(1, 60_000) }),
        );
        expect(code).toBe(0);
        const touches = said.split('\n').filter((line) => line.startsWith('touch'));
        if (touches.length > 0) expect(touches.at(-1)).toMatch(/cancel/);
        const refusing = start('refuses the third');
        await refusing.ask(requestKind.gesture, gestureOf(1, 50));
        expect((await refusing.end()).said).toMatch(/move.*\n.*cancel/);
      });
    });
  });
