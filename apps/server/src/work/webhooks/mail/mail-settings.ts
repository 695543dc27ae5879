import {
  type Environment,
  parseSettings,
  setting,
  SettingError,
  type SettingFormat,
  unless,
} from '@phalanx/settings';
import { domainName, readMailAddress, domainOf } from './mail-address.ts';

/** Mail server that accepts e-mails, and how to reach it. */
export interface MailServer {
  readonly host: string;
  readonly port: number;
  /**
   * Encryption: `tls` from the beginning; `starttls` required after the greeting; `none` when the operator has set it.
   */
  readonly encryption: 'tls' | 'starttls' | 'none';
  readonly login: { readonly user: string; readonly password: string } | undefined;
}

export interface MailConfig {
  readonly server: MailServer;
  readonly from: string;
  readonly mayReceive: (address: string) => boolean;
}

const example = 'smtps://user:password@mail.example.com or smtp://mail.example.com:587';

/** Format of the URL of a mail server. It contains a password, so no message shows it. */
const smtpUrl: SettingFormat<MailServer> = {
  parse(text, name) {
    const url = URL.parse(text);
    const problem = url === null ? 'is not the address of a mail server' : problemOf(url);
    if (url === null || problem !== undefined)
      throw new SettingError(
        `${name} ${problem}: give one such as ${example}, with the special characters of the password percent-encoded.`,
      );
    return Object.freeze(mailServerOf(url));
  },
};

function problemOf({
  protocol,
  hostname,
  pathname,
  search,
  hash,
  username,
  password,
}: URL): string | undefined {
  if (!/^smtps?:$/.test(protocol) || hostname === '' || hash !== '' || !/^\/?$/.test(pathname))
    return 'is not the address of a mail server';
  if (!['', '?tls=none'].includes(search)) return 'has a parameter that is not tls=none';
  if (search !== '' && protocol === 'smtps:') return 'has smtps and tls=none, which contradict each other';
  if (search !== '' && username !== '') return 'would send a password without TLS';
  if ((username === '') !== (password === '')) return 'has only one of user and password';
  return isDecodable(username + password) ? undefined : 'has a % that begins no percent code';
}

function isDecodable(text: string): boolean {
  try {
    return decodeURIComponent(text) !== undefined;
  } catch {
    return false;
  }
}

function mailServerOf({ protocol, hostname, port, search, username, password }: URL): MailServer {
  const isSecure = protocol === 'smtps:';
  const afterGreeting = search === '' ? ('starttls' as const) : ('none' as const);
  return {
    host: hostname.replaceAll(/^\[|\]$/g, ''),
    port: port === '' ? (isSecure ? 465 : 587) : Number(port),
    encryption: isSecure ? 'tls' : afterGreeting,
    login:
      username === ''
        ? undefined
        : { user: decodeURIComponent(username), password: decodeURIComponent(password) },
  };
}

const sender: SettingFormat<string> = {
  parse(text, name) {
    const address = readMailAddress(text);
    if (address !== undefined) return address;
    throw new SettingError(
      `${name} is ${JSON.stringify(text.slice(0, 100))}: give an address such as phalanx@example.com.`,
    );
  },
};

const receivers: SettingFormat<(address: string) => boolean> = {
  allowed: 'addresses, and domains such as example.com, with commas',
  parse(text, name) {
    const items = text.split(',').map((item) => readReceiver(item.trim(), name));
    const allowed = new Set(items.map((item) => item.toLowerCase()));
    return (address) => allowed.has(address.toLowerCase()) || allowed.has(domainOf(address));
  },
};

function readReceiver(item: string, name: string): string {
  const read = item.includes('@') ? readMailAddress(item) : readDomain(item);
  if (read !== undefined) return read;
  throw new SettingError(
    `${name} has ${JSON.stringify(item.slice(0, 100))}: give addresses such as ada@example.com and domains such as example.com, with commas.`,
  );
}

export const mailSettings = {
  server: setting({
    name: 'PHALANX_SMTP_URL',
    default: '',
    defaultText: 'no e-mail is sent',
    description: `mail server for alerts, such as ${example}`,
    format: unless('', smtpUrl),
  }),
  from: setting({
    name: 'PHALANX_MAIL_FROM',
    default: '',
    description: 'sender address of e-mails',
    format: unless('', sender),
  }),
  mayReceive: setting({
    name: 'PHALANX_MAIL_TO',
    default: '',
    defaultText: 'nobody',
    description: 'allowed recipients of e-mails',
    format: unless('', receivers),
  }),
};

/**
 * Reads the mail settings. Returns undefined when no e-mail is sent. Throws a `SettingError` at the first setting that
 * is invalid or missing.
 */
export function parseMail(env: Environment): MailConfig | undefined {
  const { server, from, mayReceive } = parseSettings(mailSettings, env);
  if (server === undefined) return undefined;
  if (from !== undefined && mayReceive !== undefined) return Object.freeze({ server, from, mayReceive });
  const missing = (from === undefined ? mailSettings.from : mailSettings.mayReceive).name;
  throw new SettingError(
    `${missing} is not set: ${mailSettings.server.name} also requires ${mailSettings.from.name} and ${mailSettings.mayReceive.name}.`,
  );
}

/** Reads a domain, in lower case. Returns undefined when it is not the name of a domain. */
function readDomain(text: string): string | undefined {
  const domain = text.toLowerCase();
  return domainName.test(domain) ? domain : undefined;
}
