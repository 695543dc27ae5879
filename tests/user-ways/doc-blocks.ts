import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Fenced block of a page: code or commands. */
export interface Block {
  file: string;
  /** First line of the block, from 1. */
  line: number;
  language: string;
  text: string;
}

/** Returns all blocks of the pages that name their language; the others are diagrams. */
export function listBlocks(): Block[] {
  const files = globSync(['*.md', 'docs/**/*.md', 'bench/*.md'], { cwd: root }).sort();
  return files.flatMap((file) => {
    const page = readFileSync(path.join(root, file), 'utf8');
    return Array.from(
      page.matchAll(/^```(\w+)\n([^]*?)^```$/gm),
      ({ 1: language = '', 2: text = '', index }) => ({
        file,
        line: page.slice(0, index).split('\n').length + 1,
        language,
        text,
      }),
    );
  });
}
