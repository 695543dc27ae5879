/** Pictures beside their trees, on a phone whose screens are distinguished by their colours. */
import type { ScreenMask, UiNode } from '@phalanx/protocol';
import { defineApp, sampleApps, type SimulatedPhone, type View } from '@phalanx/simulated-phone';
import sharp from 'sharp';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createPhoneTestBed, type PhoneTestBed, waitForPhone } from '../../phones/testing/phone-test-bed.ts';
import type { Phone } from '../../phones/phone.ts';
import type { Driver } from '../driver.ts';
import { findNode } from '../find-node.ts';
import type { TakenPicture } from './taken-picture.ts';

/** `PICTURES=1000 npm test -- picture-of-moment --testTimeout=600000` tries 1,000 of each kind, 10,000 together. */
const tries = Number(process.env['PICTURES'] ?? 24);
const packageName = 'dev.phalanx.test.colours';
const form = { format: 'jpeg', quality: 90, maxWidth: 180 } as const;
const secret = '#ff00ff';
const colours = ['#00ff00', '#0000ff', '#ffff00', '#00ffff'];

let [shown, isPassword] = [0, false];
const place = ({ left, top }: View['frame']): View['frame'] => {
  const y = top + 10 + 60 * (shown % 4);
  return { left: left + 20, top: y, right: left + 120, bottom: y + 40 };
};

/**
 * App whose screens each have a colour, show their number, and show the secret at another place; the first one shows
 * none.
 */
const coloursApp = defineApp({
  packageName,
  label: 'Colours',
  icon: '',
  color: '#000000',
  state: () => ({}),
  activities: {
    '.ColoursActivity':
      (app) =>
      (_, frame): View => {
        const at = place(frame);
        const hidden: View = {
          className: 'android.widget.EditText',
          packageName,
          frame: at,
          resourceId: `${packageName}:id/secret`,
          text: 'secret',
          password: isPassword,
          paint: (canvas) => canvas.rect(at, secret),
        };
        return {
          className: 'android.widget.FrameLayout',
          packageName,
          frame,
          description: `screen ${shown}`,
          paint: (canvas) => canvas.rect(frame, colours[shown % 4] ?? ''),
          onTap: app.change(() => void (shown += 1)),
          children: shown % 4 === 0 ? [] : [hidden],
        };
      },
  },
});

let bed: PhoneTestBed;
let simulated: SimulatedPhone;
let phone: Phone;
let driver: Driver;

beforeEach(async () => {
  [shown, isPassword] = [0, false];
  bed = await createPhoneTestBed();
  const display = { width: 180, height: 320, density: 80 };
  simulated = await bed.startPreparedPhone({ serial: 'SIM1', display, apps: [...sampleApps, coloursApp] });
  phone = await waitForPhone(bed.watch({ addresses: [simulated] }), ({ state }) => state.state === 'ready');
  driver = phone.driver();
  simulated.android.startActivity(packageName);
});
afterEach(() => bed.close());

const show = (screen: number): void => {
  shown = screen;
  simulated.android.redraw();
};

async function readRoot(): Promise<UiNode> {
  return (await driver.call('screen.content', {})).root;
}

/** Takes a picture in the way of a stored screen. */
async function takeOf(root: UiNode): Promise<TakenPicture | undefined> {
  const letGo = driver.holdScreen();
  return driver.takePictureOf({ root, form, onTaken: letGo }).finally(letGo);
}

const numberOf = (root: UiNode): number =>
  Number(findNode(root, ({ description }) => description !== null)?.description?.split(' ')[1]);

interface Seen {
  /** Index of the colour that covers most of the picture. */
  readonly colour: number;
  readonly showsSecret: boolean;
}

async function look(file: Buffer): Promise<Seen> {
  const pixels = await sharp(file).removeAlpha().raw().toBuffer();
  const counts = colours.map(() => 0);
  let secrets = 0;
  for (let at = 0; at < pixels.length; at += 3) {
    const [r = 0, g = 0, b = 0] = pixels.subarray(at, at + 3);
    const colour = ['010', '001', '110', '011'].indexOf(
      [r, g, b].map((level) => (level > 128 ? 1 : 0)).join(''),
    );
    if (colour !== -1) counts[colour] = (counts[colour] ?? 0) + 1;
    // Includes the secret behind the shade that a dialog throws.
    if (r > 70 && g < 50 && b > 70) secrets += 1;
  }
  return { colour: counts.indexOf(Math.max(...counts)), showsSecret: secrets > 20 };
}

describe('a picture of the screen of a tree', () => {
  it('is taken before the next call that changes the screen, however soon that comes', async () => {
    const wrong: [number, number | undefined][] = [];
    for (let n = 0; n < 20; n += 1) {
      const root = await readRoot();
      const picture = takeOf(root);
      const tap = driver.call('input.tap', { x: 90, y: 290 });
      const seen = await picture.then((taken) => taken?.finish()).then((file) => file && look(file.data));
      await tap;
      if (seen?.colour !== numberOf(root) % 4) wrong.push([numberOf(root), seen?.colour]);
    }
    expect(wrong).toEqual([]);
    expect(shown).toBe(20);
  });

  it('keeps inputs waiting, and no reading', async () => {
    const letGo = driver.holdScreen();
    const root = await readRoot();
    const tap = driver.call('input.tap', { x: 90, y: 290 });
    expect(await driver.takePictureOf({ root, form })).toBeDefined();
    expect(shown).toBe(0);
    letGo();
    await tap;
    expect(shown).toBe(1);
  });

  it('is none when the screen has changed since the tree was read, or changes while it is taken', async () => {
    const root = await readRoot();
    show(1);
    expect(await takeOf(root)).toBeUndefined();
    let readings = 0;
    const now = await readRoot();
    simulated.faults.beforeReading = () => {
      // The picture is the first one.
      if ((readings += 1) === 1) show(2);
    };
    expect(await takeOf(now)).toBeUndefined();
  });

  it('is one also of a tree that an automation has kept for longer than the host', async () => {
    const root = structuredClone(await readRoot());
    expect(await takeOf(root)).toBeDefined();
    show(1);
    expect(await takeOf(root)).toBeUndefined();
  });
});

const takeRecord = async (): Promise<Buffer | undefined> =>
  (await (await takeOf(await readRoot()))?.finish())?.data;
/** All ways to take a picture in which masks are black. */
const takes: readonly (() => Promise<Buffer | undefined>)[] = [
  takeRecord,
  async () => (await (await driver.takeLivePicture()).finish()).data,
  async () => Buffer.from((await driver.call('screen.screenshot', form)).base64, 'base64'),
  takeRecord,
];

const ways: Readonly<Record<string, () => void>> = {
  'to and fro': () => show(shown === 0 ? 2 : 0),
  'to and fro between two places of the secret': () => show(shown === 1 ? 2 : 1),
  'through all': () => show((shown + 1) % 4),
  'at random, or not': () => show(Math.floor(Math.random() * 4)),
  'to and fro at random': () => show(Math.random() < 0.5 ? 1 : 2),
};

describe.each([
  ['a mask', false, [{ viewId: 'secret' }]],
  ['a field for a password', true, []],
] satisfies [string, boolean, ScreenMask[]][])('%s', (_, password, masks) => {
  it.each(Object.keys(ways))(
    'is covered on a phone whose screen changes %s between any two calls',
    async (name) => {
      isPassword = password;
      phone.masks.hold(masks);
      const isMasked = masks.length > 0;
      // Reads each screen first, because the host can't know a screen that was never read.
      for (const screen of [0, 1, 2, 3]) {
        show(screen);
        await readRoot();
      }
      let [given, leaks] = [0, 0];
      for (let n = 0; n < tries; n += 1) {
        // Lets the screen rest a third of the time, so that some pictures succeed.
        simulated.faults.beforeReading = n % 3 === 0 ? undefined : () => ways[name]?.();
        const take = isMasked ? takes[n % takes.length] : takeRecord;
        const file = await take?.().catch(() => undefined);
        if (file === undefined) continue;
        given += 1;
        if ((await look(file)).showsSecret) leaks += 1;
      }
      console.info(`${name}: ${given} pictures of ${tries} tries, ${leaks} with a secret`);
      expect(leaks).toBe(0);
      expect(given).toBeGreaterThan(0);
    },
  );
});

it('a mask that comes while a live picture is taken covers that one already', async () => {
  show(1);
  await readRoot();
  simulated.faults.beforeReading = () => {
    simulated.faults.beforeReading = undefined;
    phone.masks.hold([{ viewId: 'secret' }]);
  };
  const { data } = await (await driver.takeLivePicture()).finish();
  expect(await look(data)).toMatchObject({ showsSecret: false });
});

describe.each([
  ['a mask', false, [{ viewId: 'secret' }], takes],
  ['a field for a password', true, [], [takeRecord]],
] satisfies [string, boolean, ScreenMask[], typeof takes][])(
  '%s in a window behind the one in front',
  (_, password, masks, taking) => {
    beforeEach(async () => {
      isPassword = password;
      phone.masks.hold(masks);
      show(1);
    });

    it('is covered where its window can be read, also when nobody has read it yet', async () => {
      simulated.android.showSystemDialog({ packageName: 'android', title: 'Stopped', options: [] });
      for (const take of taking) {
        const file = await take();
        expect(file && (await look(file))).toMatchObject({ showsSecret: false });
      }
    });

    it('is on no picture where its window can not be read', async () => {
      await readRoot();
      simulated.faults.showDialog({ title: 'Sure?', message: 'Or not', buttons: [{ label: 'Yes' }] });
      for (const take of taking) await expect(take()).rejects.toMatchObject({ code: 'screen_not_readable' });
      await driver.call('navigate.back', {});
      expect(await takeRecord()).toBeDefined();
    });
  },
);
