import type { ApiReply } from '../../apps/server/src/testing/api-caller.ts';
import { layOut } from './lay-out.ts';
import type { StableNames } from './stable-names.ts';

/** Headers whose values are recorded. */
const shownHeaders = [
  'content-type',
  'location',
  'retry-after',
  'content-disposition',
  'content-range',
  'allow',
];
/** Headers of which only the presence is recorded. */
const namedHeaders = ['etag', 'set-cookie', 'www-authenticate', 'link'];

/** Operations whose replies do not depend on the played steps, so that only their fields are recorded. */
const unwritten: Readonly<Record<string, string>> = {
  listHelpPages: 'of the documentation',
  readHelpPage: 'of the documentation',
  searchHelp: 'of the documentation',
  metrics: 'of the process, and of how many servers there are',
};

/** Formats a reply with stable names: a line with status and headers, and the body. */
export function writtenReply(reply: ApiReply, operation: string | undefined, names: StableNames): string {
  const { status, headers } = reply;
  const shown = shownHeaders.filter((name) => headers.has(name));
  const values = shown.map((name) => `${name}: ${names.inText(headers.get(name) ?? '')}`);
  const named = namedHeaders.filter((name) => headers.has(name));
  const head = [`${status}`, ...values, ...named].join('; ');
  return reply.text === '' ? head : `${head}\n${writtenBody(reply, operation, names)}`;
}

function writtenBody(reply: ApiReply, operation: string | undefined, names: StableNames): string {
  const { status, headers, body } = reply;
  const about = operation === undefined || status >= 400 ? undefined : unwritten[operation];
  if (about !== undefined) return `<${about}: ${Object.keys(body).join(', ')}>`;
  const text = reply.text.trimEnd();
  const json = (one: string): string => layOut(names.inJson(JSON.parse(one)));
  const [type = ''] = (headers.get('content-type') ?? '').split(';');
  // Partial content is not valid JSON.
  if (type === 'application/json' && status !== 206) return json(text);
  if (type === 'application/jsonl' || type === 'application/x-ndjson')
    return text.split('\n').map(json).join('\n');
  if (type === 'text/csv') return names.inCsv(text);
  return type.startsWith('image/') ? '<a picture>' : names.inText(text);
}
