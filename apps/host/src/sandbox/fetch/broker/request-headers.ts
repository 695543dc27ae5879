import type { FetchOrder } from '@phalanx/automation';

/** These belong to the connection and are set by the client itself; what user code gives for them is left out. */
const forbidden = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);
const ofContent = ['content-type', 'content-encoding', 'content-language', 'content-location'];
const ofCredentials = ['authorization', 'cookie', 'proxy-authorization'];

export function requestHeaders({ headers }: FetchOrder): Map<string, string> {
  const named = headers.map(([name, value]): [string, string] => [name.toLowerCase(), value]);
  const own = named.filter(([name]) => !forbidden.has(name) && !name.startsWith('proxy-'));
  return new Map([
    ['accept', '*/*'],
    ['accept-encoding', 'gzip, deflate, br'],
    ['user-agent', 'phalanx'],
    ...own,
  ]);
}

/** A redirect that turns a request into GET leaves its body, and what described it, behind. */
export function withoutContent(headers: Map<string, string>): Map<string, string> {
  return without(headers, ofContent);
}

/** Another origin must not get what was meant for the first. */
export function withoutCredentials(headers: Map<string, string>): Map<string, string> {
  return without(headers, ofCredentials);
}

function without(headers: Map<string, string>, names: string[]): Map<string, string> {
  return new Map([...headers].filter(([name]) => !names.includes(name)));
}
