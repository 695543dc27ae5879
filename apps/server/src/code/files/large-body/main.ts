import { readFile, writeFile } from 'node:fs/promises';
import { maxProjectFiles } from '@phalanx/protocol';

import { parseJson } from '../../../http/requests/bodies/request-bodies.ts';
import { ApiError } from '../../../kernel/errors/api-error.ts';
import { maxPathBytes } from '../file-path.ts';
import type { BodyAnswer, StagedText } from './answer.ts';

/*
 * Separate process: `node main.ts <body> <folder>` reads the JSON in <body> and writes the text of each `content`
 * field, at the top level or in `files`, to <folder>/content-<number>. In the server, hundreds of megabytes of JSON
 * would block the event loop for seconds, and hostile JSON (an array of a hundred million numbers) would crash the
 * process.
 */

const [bodyFile = '', folder = ''] = process.argv.slice(2);
const contents: StagedText[] = [];

/** One more than the maximum path length, so that the server notices a path that is too long. */
const maxPathLength = maxPathBytes + 1;

/** Reduces a value to what an error about a wrong type needs. */
function sketch(value: unknown, maxLength = 10_000): unknown {
  if (typeof value === 'string') return value.slice(0, maxLength);
  if (Array.isArray(value)) return [];
  return typeof value === 'object' && value !== null ? {} : value;
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Writes the content of a file to its own staging file, and returns the file's fields. */
async function stageFile(fields: unknown): Promise<unknown> {
  if (!isObject(fields)) return sketch(fields);
  const content: unknown = Reflect.get(fields, 'content');
  const path = sketch(Reflect.get(fields, 'path'), maxPathLength);
  if (typeof content !== 'string') return { path, content: sketch(content) };
  const isWellFormed = content.isWellFormed();
  if (isWellFormed) await writeFile(`${folder}/content-${contents.length}`, content);
  contents.push({ sizeBytes: Buffer.byteLength(content), isWellFormed });
  return { path, content: '' };
}

/** Keeps one item more than the maximum number of project files, so that the server notices a list that is too long. */
const sketchList = (list: unknown): unknown =>
  Array.isArray(list) ? list.slice(0, maxProjectFiles + 1) : sketch(list);

async function stage(body: unknown): Promise<unknown> {
  const files = isObject(body) ? sketchList(Reflect.get(body, 'files')) : undefined;
  if (!isObject(body) || !Array.isArray(files) || 'content' in body) return stageFile(body);
  const staged: unknown[] = [];
  for (const file of files) staged.push(await stageFile(file));
  const deleted = sketchList(Reflect.get(body, 'deleted'));
  return {
    files: staged,
    deleted: Array.isArray(deleted) ? deleted.map((path) => sketch(path, maxPathLength)) : deleted,
    expected_etag: sketch(Reflect.get(body, 'expected_etag')),
  };
}

async function read(): Promise<BodyAnswer> {
  return { kind: 'read', fields: await stage(parseJson(await readFile(bodyFile))), contents };
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
