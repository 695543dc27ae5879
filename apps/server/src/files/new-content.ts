import { readFile } from 'node:fs/promises';

import { maxFileBytes } from '@phalanx/protocol';

import type { GitRepository } from '../git/git-repository.ts';
import { ApiError } from '../http/api-error.ts';

/** What a caller wants a file to hold: in memory, or in a file when it is large. */
export interface NewContent {
  readonly sizeBytes: number;
  readText(): Promise<string>;
  /** Returns the object's name. */
  store(repository: GitRepository): Promise<string>;
}

export function contentOfText(text: string): NewContent {
  if (!text.isWellFormed())
    throw ApiError.of('invalid_content', {
      problem: 'must be valid Unicode: it has half of a surrogate pair',
    });
  return {
    sizeBytes: requireSize(Buffer.byteLength(text)),
    readText: async () => text,
    store: (repository) => repository.writeBlob(text),
  };
}

export function contentOfFile(file: string, sizeBytes: number): NewContent {
  return {
    sizeBytes: requireSize(sizeBytes),
    readText: () => readFile(file, 'utf8'),
    store: (repository) => repository.writeLargeBlobOf(file),
  };
}

function requireSize(sizeBytes: number): number {
  if (sizeBytes > maxFileBytes) throw ApiError.of('file_too_large', { size: sizeBytes, limit: maxFileBytes });
  return sizeBytes;
}
