import { type Address, formatAddress } from './adb/address.ts';

/** One setting of the host program as people see it. `default: null` means that it has to be given. */
export interface HostSetting {
  readonly name: string;
  readonly default: string | null;
  readonly description: string;
}

/** A bad or missing setting; its message is one line that says what to do. */
export class SettingError extends Error {
  readonly setting: string;

  constructor(setting: string, problem: string) {
    super(`${setting} ${problem}`);
    this.name = 'SettingError';
    this.setting = setting;
  }
}

/** Turns the text of the setting `name` into its value, or throws a `SettingError`. */
export type SettingParser<Value> = (text: string, name: string) => Value;

export function wholeNumber(limits: { min: number; max: number; unit: string }): SettingParser<number> {
  return (text, name) => {
    const value = /^\d{1,12}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= limits.min && value <= limits.max) return value;
    const range = `from ${limits.min} to ${limits.max} ${limits.unit}`;
    throw new SettingError(name, `is ${quote(text)}: give a whole number ${range}.`);
  };
}

export const trueOrFalse: SettingParser<boolean> = (text, name) => {
  if (text === 'true') return true;
  if (text === 'false') return false;
  throw new SettingError(name, `is ${quote(text)}: give true or false.`);
};

export function oneOf<const Word extends string>(words: readonly Word[]): SettingParser<Word> {
  return (text, name) => {
    const word = words.find((candidate) => candidate === text);
    if (word !== undefined) return word;
    throw new SettingError(name, `is ${quote(text)}: give one of ${words.join(', ')}.`);
  };
}

/** Plain text; the limit is that of the messages that carry it. */
export function shortText(maxLength: number): SettingParser<string> {
  return (text, name) => {
    if (text.length <= maxLength) return text;
    throw new SettingError(name, `is longer than ${maxLength} characters.`);
  };
}

/** The value is a secret: no message shows it. */
export const bearerToken: SettingParser<string> = (text, name) => {
  if (/^[\x21-\x7e]{1,4096}$/.test(text)) return text;
  throw new SettingError(name, 'is not an API token: a token has no spaces and only ASCII characters.');
};

export const httpUrl: SettingParser<URL> = (text, name) => {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isPlain = url?.search === '' && url.hash === '' && url.username === '' && url.password === '';
  if (url !== undefined && isPlain && /^https?:$/.test(url.protocol)) return url;
  throw new SettingError(
    name,
    `is ${quote(text)}: give an address such as http://192.168.1.10:8080 or https://phones.example.com.`,
  );
};

const address: SettingParser<Address> = (text, name) => {
  const parts = /^(?:\[([0-9A-Fa-f:.]+)\]|([^\s:[\]/@]+)):(\d{1,5})$/.exec(text);
  const host = parts?.[1] ?? parts?.[2];
  const port = Number(parts?.[3]);
  if (host !== undefined && port >= 1 && port <= 65_535) return { host, port };
  throw new SettingError(name, `has ${quote(text)}: give host:port, such as 192.168.1.20:5555.`);
};

export const addressOrOff: SettingParser<Address | undefined> = (text, name) =>
  text === 'off' ? undefined : address(text, name);

export const addressList: SettingParser<readonly Address[]> = (text, name) => {
  const items = text.split(',').map((item) => item.trim());
  const addresses = items.filter((item) => item !== '').map((item) => address(item, name));
  const byText = new Map(addresses.map((item) => [formatAddress(item), item]));
  return Object.freeze([...byText.values()]);
};

function quote(text: string): string {
  return JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text);
}
