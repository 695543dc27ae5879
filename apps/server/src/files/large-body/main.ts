import { readFile, writeFile } from 'node:fs/promises';

import { parseJson } from '../../http/body.ts';
import { ApiError } from '../../http/api-error.ts';
import type { BodyAnswer } from './answer.ts';

/*
 * A process of its own: `node main.ts <body> <content>` reads the JSON in <body> and writes the text of its field
 * `content` to <content>. Hundreds of megabytes of JSON would stop the server for seconds, and JSON that was made for
 * it (an array of a hundred million numbers) would end the process that reads it.
 */

const [bodyFile = '', contentFile = ''] = process.argv.slice(2);

/** Enough to say that a field has the wrong type, without carrying the field along. */
function sketch(value: unknown): unknown {
  if (typeof value === 'string') return value.length > 10_000 ? value.slice(0, 10_000) : value;
  if (Array.isArray(value)) return [];
  return typeof value === 'object' && value !== null ? {} : value;
}

async function read(): Promise<BodyAnswer> {
  const body: unknown = parseJson(await readFile(bodyFile));
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    return { kind: 'read', fields: sketch(body), sizeBytes: 0, isWellFormed: true };
  const content: unknown = Reflect.get(body, 'content');
  const path = sketch(Reflect.get(body, 'path'));
  if (typeof content !== 'string')
    return { kind: 'read', fields: { path, content: sketch(content) }, sizeBytes: 0, isWellFormed: true };
  const isWellFormed = content.isWellFormed();
  if (isWellFormed) await writeFile(contentFile, content);
  const sizeBytes = Buffer.byteLength(content);
  return { kind: 'read', fields: { path, content: '' }, sizeBytes, isWellFormed };
}

async function answer(): Promise<BodyAnswer> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { kind: 'malformed', reason: error.message };
  }
}

process.stdout.write(JSON.stringify(await answer()));
