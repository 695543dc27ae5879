import { hash } from 'node:crypto';

import { boundedCache } from '../../../kernel/bounded-cache.ts';
import { type Coding, compress } from './codings.ts';

/** Document that is the same for every caller as long as the service runs, with its tag and its compressed forms. */
export class StaticDocument {
  readonly bytes: Buffer;
  /** `ETag` of the document. */
  readonly tag: string;
  readonly #compressed = new Map<Coding, Promise<Buffer>>();

  private constructor(text: string) {
    this.bytes = Buffer.from(text);
    this.tag = tagOf(text);
  }

  /** Returns the document of a text. The lookup of a long string neither encodes nor hashes it again. */
  static of(text: string): StaticDocument {
    const document = documents.get(text) ?? new StaticDocument(text);
    documents.set(text, document);
    return document;
  }

  /** Compresses once for all callers, and again after a failure. */
  compressed(coding: Coding): Promise<Buffer> {
    const known = this.#compressed.get(coding);
    if (known !== undefined) return known;
    const compressed = compress(coding, this.bytes);
    this.#compressed.set(coding, compressed);
    compressed.catch(() => this.#compressed.delete(coding));
    return compressed;
  }
}

export const tagOf = (text: string): string => `W/"${hash('sha1', text, 'base64url')}"`;

/** Static documents, of which there are some dozens. */
const maxKept = 500;

const documents = boundedCache<StaticDocument>(maxKept);
