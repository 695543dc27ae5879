import { brotliDecompressSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';

import { StaticDocument } from './static-document.ts';

describe('a static document', () => {
  it('is compressed once for each coding, however many ask at once', async () => {
    const text = 'the same for everybody '.repeat(2000);
    const first = StaticDocument.of(text).compressed('br');
    expect(StaticDocument.of(Buffer.from(text).toString()).compressed('br')).toBe(first);
    expect(StaticDocument.of(text).compressed('gzip')).not.toBe(first);
    expect(brotliDecompressSync(await first).toString()).toBe(text);
  });

  it('has a tag of its own for each text, also of the same length', () => {
    const texts = ['a', 'b'].map((letter) => letter.repeat(100_000));
    expect(new Set(texts.map((text) => StaticDocument.of(text).tag)).size).toBe(2);
  });
});
