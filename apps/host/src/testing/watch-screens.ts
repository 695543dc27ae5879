import type { SimulatedPhone } from '@phalanx/simulated-phone';
import sharp from 'sharp';

interface Shown {
  readonly at: number;
  readonly screen: unknown;
  picture: Promise<Buffer> | undefined;
}

/** Error of the service's clock, as the host knows it. No screen of these tests is shown for less. */
const clockErrorMs = 25;

/** Tells whether a picture is more like what the phone showed at that time than like anything else that it showed. */
type Judge = (picture: Buffer, epochMs: number) => Promise<boolean>;

/** Notes what the phone shows whenever its tree is read or its picture taken. */
export function watchScreens(phone: SimulatedPhone): Judge {
  const shown: Shown[] = [];
  phone.faults.beforeReading = () => {
    const { screen } = phone.android;
    const last = shown.at(-1);
    if (last?.screen === screen) return;
    const entry: Shown = { at: Date.now(), screen, picture: undefined };
    shown.push(entry);
    // The screenshot counts as a reading of the screen.
    entry.picture = phone.screenshot('png').then(shrink);
  };
  return async (picture, epochMs) => {
    const small = await shrink(picture);
    const differences = await Promise.all(
      shown.map(async (one) => differenceOf(small, (await one.picture) ?? Buffer.alloc(0))),
    );
    const indexAt = (time: number): number =>
      Math.max(
        0,
        shown.findLastIndex(({ at }) => at <= time),
      );
    const own = differences.slice(indexAt(epochMs - clockErrorMs), indexAt(epochMs + clockErrorMs) + 1);
    return Math.min(...own) <= Math.min(...differences);
  };
}

/** The mean difference of two pictures, in levels of 255. */
export async function difference(one: Buffer, other: Buffer): Promise<number> {
  return differenceOf(await shrink(one), await shrink(other));
}

const shrink = (file: Buffer): Promise<Buffer> =>
  sharp(file).greyscale().resize({ width: 54, height: 120, fit: 'fill' }).raw().toBuffer();

function differenceOf(one: Buffer, other: Buffer): number {
  return one.reduce((sum, level, at) => sum + Math.abs(level - (other[at] ?? 0)), 0) / one.length;
}
