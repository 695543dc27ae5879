import { helpAnchorOf, type HelpPage, type HelpResult } from '@phalanx/protocol';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';

const root = path.join(import.meta.dirname, '../../../..');
const docs = path.join(root, 'docs');
const types = path.join(root, 'packages/automation/src/types');

interface Page extends HelpPage {
  readonly text: string;
}

interface Section {
  readonly page: HelpPage;
  readonly title: string;
  readonly anchor: string;
  readonly text: string;
  /** Title and text in lower case, for the search. */
  readonly heading: string;
  readonly body: string;
}

/** What somebody reads first; the others follow by name. */
const firstPages = ['tutorial', 'reference', 'errors', 'coding-agents'];
const most = 10;
/** Anybody may search, and each word is looked for in all pages. */
const mostWords = 12;
const maxText = 2000;

/** The documentation of this version: the pages for users, and the declarations of the global `agent`. */
export class HelpPages {
  readonly pages: readonly Page[];
  readonly #sections: readonly Section[];

  constructor(pages: readonly Page[]) {
    this.pages = pages;
    // The pages of `automation` say what the declarations say.
    this.#sections = pages.filter(({ name }) => !name.startsWith('types/')).flatMap(sectionsOf);
  }

  /** Pages of decisions are for those who change Phalanx. */
  static async read(): Promise<HelpPages> {
    const markdown = await readdir(docs, { recursive: true });
    const names = markdown
      .map((file) => file.replaceAll('\\', '/'))
      .filter((file) => file.endsWith('.md') && !file.startsWith('decisions/'))
      .map((file) => file.slice(0, -'.md'.length))
      .toSorted((one, other) => rank(one) - rank(other) || (one < other ? -1 : 1));
    const pages = names.map(async (name) => {
      const text = await readFile(path.join(docs, `${name}.md`), 'utf8');
      return { name, title: /^# (.+)$/m.exec(text)?.[1] ?? name, text };
    });
    const declarations = (await readdir(types)).filter((file) => file.endsWith('.d.ts')).toSorted();
    const code = declarations.map(async (file) => {
      const text = await readFile(path.join(types, file), 'utf8');
      return { name: `types/${file}`, title: file, text: `# ${file}\n\n\`\`\`ts\n${text}\`\`\`\n` };
    });
    return new HelpPages(await Promise.all([...pages, ...code]));
  }

  find(name: string): Page | undefined {
    return this.pages.find((page) => page.name === name);
  }

  search(query: string): HelpResult[] {
    const words = [...new Set(query.toLowerCase().match(/[\p{L}\p{N}_]+/gu))].slice(0, mostWords);
    const weights = words.map((word) => {
      const having = this.#sections.filter(({ body }) => body.includes(word)).length;
      return Math.log(1 + this.#sections.length / (1 + having));
    });
    return this.#sections
      .map((section) => ({ section, score: scoreOf(section, words, weights) }))
      .filter(({ score }) => score > 0)
      .toSorted((one, other) => other.score - one.score)
      .slice(0, most)
      .map(({ section: { page, title, anchor, text } }) => ({
        ...{ page, section: title, anchor },
        text: text.length > maxText ? `${text.slice(0, maxText)}…` : text,
      }));
  }
}

const rank = (name: string): number => {
  const place = firstPages.indexOf(name);
  return place === -1 ? firstPages.length : place;
};

/** A word counts more in a title, and a section with all words goes before one with many of the same. */
function scoreOf(
  { heading, body, page }: Section,
  words: readonly string[],
  weights: readonly number[],
): number {
  return words.reduce((sum, word, at) => {
    const times = body.split(word).length - 1;
    const inTitle = heading === word ? 12 : heading.includes(word) ? 4 : 0;
    const inPage = page.title.toLowerCase().includes(word) ? 1 : 0;
    const found = inTitle + inPage + (times === 0 ? 0 : 1 + Math.log(times));
    return sum + (weights[at] ?? 0) * found;
  }, 0);
}

function sectionsOf({ name, title, text }: Page): Section[] {
  const page = { name, title };
  const sections: { title: string; lines: string[] }[] = [{ title, lines: [] }];
  let isCode = false;
  for (const [at, line] of text.split('\n').entries()) {
    if (line.startsWith('```')) isCode = !isCode;
    const heading = isCode || at === 0 ? undefined : /^#+ (.+)$/.exec(line)?.[1];
    if (heading !== undefined) sections.push({ title: heading.replaceAll('`', ''), lines: [] });
    sections.at(-1)?.lines.push(line);
  }
  return sections.map(({ title: section, lines }, place) => {
    const body = lines.join('\n').trim();
    return {
      ...{ page, title: section, text: body, heading: section.toLowerCase(), body: body.toLowerCase() },
      anchor: place === 0 ? '' : helpAnchorOf(section),
    };
  });
}
