import type { SimulatedPhone } from '@phalanx/simulated-phone';
import sharp from 'sharp';

interface Shown {
  readonly at: number;
  readonly screen: unknown;
  picture: Promise<Buffer> | undefined;
}

/** Error of the service's clock on the host, in milliseconds. These tests show every screen for longer. */
const clockErrorMs = 25;

/** Returns whether a picture resembles the phone's screen at that time at least as much as any other screen. */
type Judge = (picture: Buffer, epochMs: number) => Promise<boolean>;

/** Records the phone's screen whenever its tree is read or its picture is taken. */
export function watchScreens(phone: SimulatedPhone): Judge {
  const shown: Shown[] = [];
  phone.faults.beforeReading = () => {
    const { screen } = phone.android;
    const last = shown.at(-1);
    if (last?.screen === screen) return;
    const entry: Shown = { at: Date.now(), screen, picture: undefined };
    shown.push(entry);
    // The screenshot itself counts as a reading of the screen.
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

/** Returns the mean difference of two pictures, in levels from 0 to 255. */
export async function difference(one: Buffer, other: Buffer): Promise<number> {
  return differenceOf(await shrink(one), await shrink(other));
}

const shrink = (file: Buffer): Promise<Buffer> =>
  sharp(file).greyscale().resize({ width: 54, height: 120, fit: 'fill' }).raw().toBuffer();

function differenceOf(one: Buffer, other: Buffer): number {
  return one.reduce((sum, level, at) => sum + Math.abs(level - (other[at] ?? 0)), 0) / one.length;
}
