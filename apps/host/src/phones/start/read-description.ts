import { DriverError } from '../../driver/driver-error.ts';
import type { PhoneShell } from '../../driver/shell/phone-shell.ts';
import type { PhoneDescription } from '../phone.ts';

const maxFieldLength = 200;

/** A line for each; what a phone does not know is an empty one. */
const properties = [
  'ro.product.brand',
  'ro.product.model',
  'ro.build.version.release',
  'ro.build.version.sdk',
  'ro.product.cpu.abilist',
  'ro.build.version.security_patch',
];
const descriptionQuestion = [...properties.map((name) => `getprop ${name}`), 'wm size', 'wm density'].join(
  '; ',
);

/** Asks the phone what it is. */
export async function readDescription(shell: PhoneShell, signal: AbortSignal): Promise<PhoneDescription> {
  const { stdout } = await shell.run(descriptionQuestion, signal);
  const [brand = '', model = '', androidVersion = '', sdk = '', abiList = '', securityPatch = ''] = stdout
    .split('\n')
    .map(clean);
  const sdkVersion = Number(sdk);
  if (!Number.isInteger(sdkVersion) || sdkVersion < 1) {
    throw new DriverError(
      'phone_answer_unexpected',
      `The phone does not tell its Android version (ro.build.version.sdk is "${sdk}").`,
    );
  }
  const abis = abiList.split(',').filter((abi) => abi !== '');
  const densityDpi = parseDensity(stdout);
  return { brand, model, androidVersion, sdkVersion, ...parseSize(stdout), densityDpi, abis, securityPatch };
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
