import { readFile } from 'node:fs/promises';
import { maxFileBytes } from '@phalanx/protocol';

import { readProjectSettings, settingsPath } from '../compile/project-settings.ts';
import { summaryOf } from '../compile/compiler.ts';
import type { NewObjects } from '../git/draft.ts';
import { ApiError } from '../../kernel/errors/api-error.ts';
import type { StagedBody } from './large-body/stage-body.ts';

/** New content of a file: in memory, or in a staging file when it is large. */
export interface NewContent {
  readonly sizeBytes: number;
  readText(): Promise<string>;
  /**
   * Adds the content to `objects` and returns its git hash. Large content stays in its file until the objects are
   * stored.
   */
  store(objects: NewObjects): Promise<string>;
}

/** Maximum size of content that is held in memory while it is stored. */
const maxInMemoryBytes = 1024 * 1024;

/** Returns the content at `index` of a request. */
export function contentOf(text: string, staged: StagedBody | undefined, index = 0): NewContent {
  const content = staged?.contents[index];
  if (content === undefined) return contentOfText(text);
  requireUnicode(content.isWellFormed);
  return contentOfFile(content.file, content.sizeBytes);
}

function requireUnicode(isWellFormed: boolean): void {
  if (isWellFormed) return;
  throw ApiError.of('invalid_content', { problem: 'must be valid Unicode: it contains a lone surrogate' });
}

function contentOfText(text: string): NewContent {
  requireUnicode(text.isWellFormed());
  return {
    sizeBytes: requireSize(Buffer.byteLength(text)),
    readText: async () => text,
    store: async (objects) => objects.add('blob', text),
  };
}

function contentOfFile(file: string, sizeBytes: number): NewContent {
  return {
    sizeBytes: requireSize(sizeBytes),
    readText: () => readFile(file, 'utf8'),
    store: async (objects) =>
      sizeBytes > maxInMemoryBytes
        ? objects.addFile(file, sizeBytes)
        : objects.add('blob', await readFile(file)),
  };
}

function requireSize(sizeBytes: number): number {
  if (sizeBytes > maxFileBytes) throw ApiError.of('file_too_large', { size: sizeBytes, limit: maxFileBytes });
  return sizeBytes;
}

/** Length in bytes from which a line in `.gitattributes` makes git treat the repository as damaged. */
const maxAttributeLine = 2048;
const maxAttributeBytes = 1024 * 1024;

/** Throws for content that is invalid for a file at this path. */
export async function requireContent(path: string, content: NewContent): Promise<void> {
  if (path === settingsPath) await requireSettings(content);
  if (path === '.gitattributes' || path.endsWith('/.gitattributes')) await requireAttributes(content);
}

async function requireSettings(content: NewContent): Promise<void> {
  const read = readProjectSettings(await content.readText());
  if (read.ok) return;
  const { errors } = read;
  throw ApiError.of('invalid_tsconfig', { summary: summaryOf(errors) }, { errors });
}

async function requireAttributes(content: NewContent): Promise<void> {
  if (content.sizeBytes > maxAttributeBytes)
    throw ApiError.of('invalid_content', {
      problem: `of a .gitattributes file must have at most ${maxAttributeBytes} bytes`,
    });
  const isLong = (line: string): boolean => Buffer.byteLength(line) >= maxAttributeLine;
  if ((await content.readText()).split('\n').some(isLong))
    throw ApiError.of('invalid_content', {
      problem: `of a .gitattributes file must have lines of less than ${maxAttributeLine} bytes`,
    });
}
