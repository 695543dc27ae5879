import { DriverError } from '../driver/driver-error.ts';
import type { PhoneShell } from '../driver/phone-shell.ts';
import type { PhoneDescription } from './phone.ts';

const maxFieldLength = 200;

/** Asks the phone what it is. */
export async function readDescription(shell: PhoneShell, signal: AbortSignal): Promise<PhoneDescription> {
  const property = async (name: string): Promise<string> =>
    clean((await shell.run(`getprop ${name}`, signal)).stdout);
  const names = ['ro.product.brand', 'ro.product.model', 'ro.build.version.release', 'ro.build.version.sdk'];
  const [brand = '', model = '', androidVersion = '', sdk = ''] = await Promise.all(names.map(property));
  const sdkVersion = Number(sdk);
  if (!Number.isInteger(sdkVersion) || sdkVersion < 1) {
    throw new DriverError(
      'phone_answer_unexpected',
      `The phone does not tell its Android version (ro.build.version.sdk is "${sdk}").`,
    );
  }
  const abis = (await property('ro.product.cpu.abilist')).split(',').filter((abi) => abi !== '');
  const securityPatch = await property('ro.build.version.security_patch');
  const size = parseSize((await shell.run('wm size', signal)).stdout);
  const densityDpi = parseDensity((await shell.run('wm density', signal)).stdout);
  return { brand, model, androidVersion, sdkVersion, ...size, densityDpi, abis, securityPatch };
}

function clean(text: string): string {
  return text
    .trim()
    .replace(/\p{Cc}/gu, ' ')
    .slice(0, maxFieldLength);
}

/** The override, when set, is what coordinates of input use. */
function parseSize(text: string): { screenWidth: number; screenHeight: number } {
  const match =
    /Override size: (\d{1,5})x(\d{1,5})/.exec(text) ?? /Physical size: (\d{1,5})x(\d{1,5})/.exec(text);
  return { screenWidth: Number(match?.[1] ?? 0), screenHeight: Number(match?.[2] ?? 0) };
}

function parseDensity(text: string): number {
  const match = /Override density: (\d{1,5})/.exec(text) ?? /Physical density: (\d{1,5})/.exec(text);
  return Number(match?.[1] ?? 0);
}
