import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSync } from 'oxc-parser';
import { listSourceFiles } from './source-files.ts';

/** First words of comments that do not name their subject. */
const REFUSED = /^(of|what|who|whoever|whatever|so|such|as|where|when|which|only|also|it)\b/i;
const CSS_COMMENT = /\/\*[^]*?\*\//g;
const SHELL_COMMENT = /(?<=^|\s)#(?!!).*/gm;

/** Returns each comment with a refused first word as `path:line: its first line`. */
export function checkComments(root: string): readonly string[] {
  const others = globSync(['*.ts', '{packages,apps,tests,bench,scripts}/**/*.{js,mjs,css,sh}'], {
    cwd: root,
    exclude: (path) => /(^|[/\\])(node_modules|dist|coverage|data)$/.test(path),
  });
  return [...listSourceFiles(root), ...others].flatMap((path) => {
    const source = readFileSync(join(root, path), 'utf8');
    return findComments(path, source)
      .map(([start, end]) => ({
        start,
        text: source.slice(start, end).replaceAll(/^[/*#\s]+|\s*\*\/$/g, ''),
      }))
      .filter(({ text }) => REFUSED.test(text))
      .map(({ start, text }) => `${path}:${lineAt(source, start)}: ${text.split('\n', 1)[0]}`);
  });
}

/** Returns the start and end of each comment. Consecutive lines of `//` or `#` are one comment. */
function findComments(path: string, source: string): readonly (readonly [number, number])[] {
  const found = allComments(path, source);
  return found.filter(([start], index) => {
    const gap = source.slice(found[index - 1]?.[1] ?? 0, start);
    return index === 0 || source.startsWith('/*', start) || !/^\n[ \t]*$/.test(gap);
  });
}

function allComments(path: string, source: string): readonly (readonly [number, number])[] {
  const pattern = path.endsWith('.css') ? CSS_COMMENT : path.endsWith('.sh') ? SHELL_COMMENT : undefined;
  if (pattern === undefined)
    return parseSync(path, source).comments.map(({ start, end }) => [start, end] as const);
  return Array.from(source.matchAll(pattern), ({ index, 0: text }) => [index, index + text.length] as const);
}

const lineAt = (source: string, offset: number): number => source.slice(0, offset).split('\n').length;

if (import.meta.main) {
  const messages = checkComments(join(import.meta.dirname, '..'));
  if (messages.length > 0) {
    console.error(messages.join('\n'));
    console.error('A comment begins with a verb or with the noun that it is about.');
    process.exitCode = 1;
  }
}
