import { resolve } from 'node:path';

import { type SettingFormat, SettingError } from './setting.ts';

export function wholeNumber(limits: { min: number; max: number; unit?: string }): SettingFormat<number> {
  const range = `${limits.min} to ${limits.max}${limits.unit === undefined ? '' : ` ${limits.unit}`}`;
  return {
    allowed: range,
    parse(text, name) {
      const value = /^\d{1,12}$/.test(text) ? Number(text) : Number.NaN;
      return value >= limits.min && value <= limits.max
        ? value
        : refuse(name, text, `a whole number from ${range}`);
    },
  };
}

/** Format of a duration: the text is in seconds, the value in milliseconds. */
export function seconds(limits: { min: number; max: number }): SettingFormat<number> {
  const { parse, ...rest } = wholeNumber({ ...limits, unit: 'seconds' });
  return { ...rest, parse: (text, name) => 1000 * parse(text, name) };
}

export const trueOrFalse: SettingFormat<boolean> = {
  allowed: 'true or false',
  parse: (text, name) => oneOf(['true', 'false']).parse(text, name) === 'true',
};

export function oneOf<const Word extends string>(words: readonly Word[]): SettingFormat<Word> {
  return {
    allowed: words.join(', '),
    parse: (text, name) =>
      words.find((word) => word === text) ?? refuse(name, text, `one of ${words.join(', ')}`),
  };
}

/** Format of plain text. The limit is that of the messages that carry it. */
export const shortText = (maxLength: number): SettingFormat<string> => ({
  parse(text, name) {
    if (text.length <= maxLength) return text;
    throw new SettingError(`${name} is longer than ${maxLength} characters.`);
  },
});

/** Format of a secret for HTTP headers. No message contains it. */
export const secret = (limits: { min: number; max: number }): SettingFormat<string> => ({
  parse(text, name) {
    if (/^[\x21-\x7e]+$/.test(text) && text.length >= limits.min && text.length <= limits.max) return text;
    throw new SettingError(
      `${name} is not a token: give ${limits.min} to ${limits.max} printable ASCII characters without spaces.`,
    );
  },
});

/** Format of a database URL. It contains a password, so no message contains it. */
export const databaseUrl: SettingFormat<string> = {
  parse(text, name) {
    if (/^postgres(ql)?:\/\//.test(text) && URL.canParse(text)) return text;
    throw new SettingError(
      `${name} is not the address of a PostgreSQL database: give one such as postgres://user:password@host:5432/database, with the special characters of the password percent-encoded.`,
    );
  },
};

/** Format of NATS URLs, which also contain passwords. Comma-separated ones are the servers of one cluster. */
export const natsUrls: SettingFormat<readonly URL[]> = {
  parse(text, name) {
    const items = text.split(',').map((item) => item.trim());
    if (items.every((item) => /^(nats|tls):\/\//.test(item) && URL.canParse(item)))
      return Object.freeze(items.map((item) => new URL(item)));
    throw new SettingError(
      `${name} is no address of NATS: give one such as nats://user:password@host:4222, or several with commas between them.`,
    );
  },
};

export const httpUrl: SettingFormat<URL> = {
  parse(text, name) {
    const url = URL.canParse(text) ? new URL(text) : undefined;
    const isPlain = !/[?#]/.test(text) && url?.username === '' && url.password === '';
    if (url !== undefined && isPlain && /^https?:$/.test(url.protocol)) return url;
    return refuse(name, text, 'an address such as http://192.168.1.10:8080 or https://phones.example.com');
  },
};

/** Format of an address. Port 0 means any free port, for programs that listen. */
export const address: SettingFormat<Address> = {
  parse(text, name) {
    const parts = /^(?:\[([0-9A-Fa-f:.]+)\]|([^\s:[\]/@]+)):(\d{1,5})$/.exec(text);
    const host = parts?.[1] ?? parts?.[2];
    const port = Number(parts?.[3]);
    if (host !== undefined && port <= 65_535) return Object.freeze({ host, port });
    return refuse(name, text, 'host:port, such as 192.168.1.20:5555 or [::1]:8080');
  },
};

/** Format of an address to connect to, so port 0 is invalid. */
export const peerAddress: SettingFormat<Address> = {
  parse(text, name) {
    const peer = address.parse(text, name);
    return peer.port > 0 ? peer : refuse(name, text, 'host:port with a port from 1 to 65535');
  },
};

export const addressList: SettingFormat<readonly Address[]> = {
  parse(text, name) {
    const items = text.split(',').map((item) => item.trim());
    const addresses = items.filter((item) => item !== '').map((item) => peerAddress.parse(item, name));
    return Object.freeze([...new Map(addresses.map((item) => [formatAddress(item), item])).values()]);
  },
};

export const folder: SettingFormat<string> = { parse: (text) => resolve(text) };

/** Returns a format in which `word` means none. It is usually empty. */
export const unless = <Value>(
  word: string,
  { allowed, parse }: SettingFormat<Value>,
): SettingFormat<Value | undefined> => ({
  ...(allowed !== undefined && { allowed }),
  parse: (text, name) => (text === word ? undefined : parse(text, name)),
});

function refuse(name: string, text: string, wanted: string): never {
  const shown = JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text);
  throw new SettingError(`${name} is ${shown}: give ${wanted}.`);
}

export interface Address {
  readonly host: string;
  readonly port: number;
}

export const formatAddress = ({ host, port }: Address): string =>
  host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
