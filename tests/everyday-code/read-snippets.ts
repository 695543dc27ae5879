import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

const folder = join(import.meta.dirname, 'snippets');

export interface Snippet {
  /** Name, such as `web: fetch of JSON`. */
  readonly name: string;
  readonly code: string;
}

/** Returns the code below each heading of the pages in `snippets`. */
export async function readSnippets(): Promise<Snippet[]> {
  const pages = (await readdir(folder)).sort();
  const snippets = await Promise.all(
    pages.map(async (page) => {
      const text = await readFile(join(folder, page), 'utf8');
      const found = text.matchAll(/^## (.+)\n\n```ts\n([^]*?)^```$/gm);
      return Array.from(found, ([, name = '', code = '']) => ({
        name: `${page.replace('.md', '')}: ${name}`,
        code,
      }));
    }),
  );
  return snippets.flat();
}
