import { parseDisplaySize } from '../../driver/display.ts';
import { DriverError } from '../../driver/driver-error.ts';
import { askTogether } from '../../driver/shell/ask-together.ts';
import type { PhoneShell } from '../../driver/shell/phone-shell.ts';
import type { PhoneDescription } from '../phone.ts';

const maxFieldLength = 200;

/** Properties to read. An unknown property gives an empty line. */
const properties = [
  'ro.product.brand',
  'ro.product.model',
  'ro.build.version.release',
  'ro.build.version.sdk',
  'ro.product.cpu.abilist',
  'ro.build.version.security_patch',
];
/** Separate commands, because the value of a property may contain line breaks. */
const questions = ['wm size', 'wm density', ...properties.map((name) => `getprop ${name}`)];

/** Asks the phone for its description. */
export async function readDescription(shell: PhoneShell, signal: AbortSignal): Promise<PhoneDescription> {
  const [size = '', density = '', ...told] = await askTogether(shell, questions, signal);
  const [brand = '', model = '', androidVersion = '', sdk = '', abiList = '', securityPatch = ''] =
    told.map(clean);
  const sdkVersion = Number(sdk);
  if (!Number.isInteger(sdkVersion) || sdkVersion < 1)
    throw notTold(`its Android version (ro.build.version.sdk is "${sdk}")`);
  const abis = abiList.split(',').filter((abi) => abi !== '');
  const screen = parseDisplaySize(size);
  const densityDpi = parseDensity(density);
  return { brand, model, androidVersion, sdkVersion, ...screen, densityDpi, abis, securityPatch };
}

const notTold = (what: string): DriverError =>
  new DriverError('phone_answer_unexpected', `The phone does not tell ${what}.`);

function clean(text: string): string {
  return text
    .trim()
    .replace(/\p{Cc}/gu, ' ')
    .slice(0, maxFieldLength);
}

function parseDensity(text: string): number {
  const match = /^Override density: (\d{1,5})/m.exec(text) ?? /^Physical density: (\d{1,5})/m.exec(text);
  if (match !== null) return Number(match[1]);
  throw notTold('the density of its screen ("wm density")');
}
