import { readFile } from 'node:fs/promises';

import { maxFileBytes } from '@phalanx/protocol';

import type { GitRepository } from '../git/git-repository.ts';
import { ApiError } from '../http/api-error.ts';
import type { StagedBody } from './large-body/stage-body.ts';

/** What a caller wants a file to hold: in memory, or in a file when it is large. */
export interface NewContent {
  readonly sizeBytes: number;
  readText(): Promise<string>;
  /** Returns the object's name. */
  store(repository: GitRepository): Promise<string>;
}

/** Up to this size a file takes less to store than a process. */
const maxInMemoryBytes = 1024 * 1024;

/** The content at `index` of a request. */
export function contentOf(text: string, staged: StagedBody | undefined, index = 0): NewContent {
  const content = staged?.contents[index];
  if (content === undefined) return contentOfText(text);
  requireUnicode(content.isWellFormed);
  return contentOfFile(content.file, content.sizeBytes);
}

function requireUnicode(isWellFormed: boolean): void {
  if (isWellFormed) return;
  throw ApiError.of('invalid_content', { problem: 'must be valid Unicode: it has half of a surrogate pair' });
}

function contentOfText(text: string): NewContent {
  requireUnicode(text.isWellFormed());
  return {
    sizeBytes: requireSize(Buffer.byteLength(text)),
    readText: async () => text,
    store: (repository) => repository.writeBlob(text),
  };
}

function contentOfFile(file: string, sizeBytes: number): NewContent {
  return {
    sizeBytes: requireSize(sizeBytes),
    readText: () => readFile(file, 'utf8'),
    store: async (repository) =>
      sizeBytes > maxInMemoryBytes
        ? repository.writeLargeBlobOf(file)
        : repository.writeBlob(await readFile(file)),
  };
}

function requireSize(sizeBytes: number): number {
  if (sizeBytes > maxFileBytes) throw ApiError.of('file_too_large', { size: sizeBytes, limit: maxFileBytes });
  return sizeBytes;
}
