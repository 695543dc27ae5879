import type { DriverError } from '../driver-error.ts';

interface MakerSwitch {
  /** Names of the makers, for people; empty for a switch of Android itself. */
  readonly makers: string;
  /** `ro.product.brand` of their phones. */
  readonly brands: RegExp;
  /** Pattern of the error's code, followed by the phone's message. */
  readonly said: RegExp;
  readonly press: string;
}

const refusedInput = /INJECT_EVENTS/;
/** Code of a refusal whose cause the phone does not report. */
const refusedAnyhow = /^input_refused/;
const refusedToShell =
  /GRANT_RUNTIME_PERMISSIONS|CLEAR_APP_USER_DATA|is forbidden|requires:android\.permission\.WRITE_SECURE_SETTINGS/;
const xiaomi = { makers: 'Xiaomi', brands: /^(?:xiaomi|redmi|poco)/i };
const oppo = { makers: 'Oppo, Realme and OnePlus', brands: /^(?:oppo|realme|oneplus)/i };
const vivo = { makers: 'Vivo', brands: /^(?:vivo|iqoo)/i };

/** Actions that makers and Android refuse to a computer until a switch on the phone is set, by the phone's message. */
const switches: readonly MakerSwitch[] = [
  // Genymobile/scrcpy#4352, darshanparajuli/LogcatReader#42
  {
    ...xiaomi,
    said: new RegExp(`${refusedInput.source}|${refusedToShell.source}`),
    press:
      'switch on "USB debugging (Security settings)" in the developer options, which asks for a SIM card and an account, and restart the phone',
  },
  // rom1v/sndcpy#64: "Failure [INSTALL_FAILED_USER_RESTRICTED: Install canceled by user]"
  {
    ...xiaomi,
    said: /INSTALL_FAILED_USER_RESTRICTED/,
    press:
      'switch on "Install via USB" in the developer options, which asks for a SIM card and an account, and confirm the dialog on the phone',
  },
  // Genymobile/scrcpy, FAQ; appium/appium#13802; PhilippC/kp2a_keyboardswap#12
  {
    ...oppo,
    said: new RegExp(`${refusedInput.source}|${refusedToShell.source}`),
    press: 'switch on "Disable permission monitoring" in the developer options',
  },
  // openatx/uiautomator2#330
  {
    ...vivo,
    said: refusedInput,
    press: 'switch on "USB simulated click" in the developer options',
  },
  // thundersdata-frontend/rn-template#36: "INSTALL_FAILED_ABORTED: User rejected permissions"
  {
    ...vivo,
    said: /INSTALL_FAILED_ABORTED: User rejected permissions/,
    press:
      'set USB to file transfer, switch off "Verify apps over USB" in the developer options, and confirm the dialog on the phone',
  },
  {
    makers: '',
    brands: /^/,
    said: /VERIFICATION_FAILURE/,
    press: 'switch off "Verify apps over USB" in the developer options',
  },
  { makers: '', brands: /^/, said: /INSUFFICIENT_STORAGE|No space/i, press: 'free some space on the phone' },
];

/**
 * Returns which switch to set for what a phone of this brand refused; for an unknown brand, the switch of each maker.
 * When the phone does not report that a switch is the cause, suggests the switch of its own maker. Begins with a space,
 * or is empty.
 */
export function switchAdvice(
  { code, message }: Pick<DriverError, 'code' | 'message'>,
  brand: string,
): string {
  const fitting = switches.filter(({ said }) => said.test(`${code} ${message}`));
  const own = fitting.filter(({ brands }) => brands.test(brand));
  const parts = own.length > 0 ? own.map(({ press }) => press) : fitting.map(ofMaker);
  if (parts.length > 0) return ` What helps: ${parts.join('; ')}.`;
  return refusedAnyhow.test(code) ? possibleAdvice(brand) : '';
}

function possibleAdvice(brand: string): string {
  const own = switches.find(
    ({ said, brands }) => said.source.startsWith(refusedInput.source) && brands.test(brand),
  );
  return own === undefined ? '' : ` What may help: ${own.press}.`;
}

const ofMaker = ({ makers, press }: MakerSwitch): string => `on ${makers} phones ${press}`;

/**
 * Returns why a phone of this brand may have left its cable by itself, and which switch to set. Begins with a space, or
 * is empty.
 */
export function cableAdvice(brand: string): string {
  // Genymobile/scrcpy#5840, keymapperorg/KeyMapper#2155: adb lists no phone.
  if (/^samsung/i.test(brand))
    return ' If it is plugged in: on Samsung phones Auto Blocker ends USB debugging. Switch it off in Settings, Security and privacy, Auto Blocker.';
  // Genymobile/scrcpy#988 and #1385: adb lists no phone while the cable only charges it.
  if (/^(?:huawei|honor)/i.test(brand))
    return ' If it is plugged in: on Huawei and Honor phones switch on "Allow ADB debugging in charge only mode" in the developer options.';
  // RikkaApps/Shizuku#366: a change of the USB mode restarts adbd.
  return brand === ''
    ? ''
    : ' If it is plugged in: a change of its USB mode ends the connection. Choose a fixed one under "Default USB configuration" in the developer options.';
}
