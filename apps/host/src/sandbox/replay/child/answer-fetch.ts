import type { FetchHead, FetchOrder } from '@phalanx/automation';
import type { ReplayFetches } from '@phalanx/protocol';

/** As the isolate takes it: JSON of the head or of the failure, and the body as a string of bytes. */
export interface FetchAnswer {
  json: string;
  body: string;
}

/** The first answer of the project that fits; without one, the request fails as without a network. */
export function answerFetch(fetches: ReplayFetches, { method, url }: FetchOrder): FetchAnswer {
  const found = fetches.find(
    (one) => (one.method ?? 'GET').toUpperCase() === method && patternOf(one.url).test(url),
  );
  if (found === undefined) {
    const message = `fetch failed: a replay has no network, and screens/fetch.json no answer to ${method} ${url}`;
    return { json: JSON.stringify({ ok: false, message }), body: '' };
  }
  const { status = 200, body = '' } = found;
  const isText = typeof body === 'string';
  const headers: FetchHead['headers'] = [['content-type', isText ? 'text/plain' : 'application/json']];
  const head: FetchHead = { url, status, statusText: '', headers, redirected: false };
  const bytes = Buffer.from(isText ? body : JSON.stringify(body)).toString('latin1');
  return { json: JSON.stringify({ ok: true, head }), body: bytes };
}

const patternOf = (url: string): RegExp => new RegExp(`^${url.split('*').map(escaped).join('.*')}$`, 's');

const escaped = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);
