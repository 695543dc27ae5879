import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { type HelpPage, helpAnchorOf, type HelpResult } from '@phalanx/protocol';
import { boundedCache } from '../../kernel/bounded-cache.ts';
import { mapInSlices } from '../../kernel/limits/time-slice.ts';
import { groupOf, placeOf } from './page-groups.ts';

const root = path.join(import.meta.dirname, '../../../../..');
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
  /** Lower-case title and text for the search. */
  readonly heading: string;
  readonly body: string;
}

const maxPages = 10;
/** Maximum number of words per search: search is public, and each word is searched for in all pages. */
const maxWords = 12;
const maxText = 2000;
/** Number of searches whose results are cached, up to 20 KB each. */
const maxFound = 500;

/** The documentation of this version: the pages for users, and the declarations of the global `agent`. */
export class HelpPages {
  readonly pages: readonly Page[];
  readonly #sections: readonly Section[];
  readonly #found = boundedCache<readonly HelpResult[]>(maxFound);

  constructor(pages: readonly Page[]) {
    this.pages = pages;
    // Declarations are not searched: the pages of `automation` say the same.
    this.#sections = pages.filter(({ name }) => !name.startsWith('types/')).flatMap(sectionsOf);
  }

  /** Reads the pages for users. Excludes `decisions`, which are for developers of Phalanx. */
  static async read(): Promise<HelpPages> {
    const markdown = await readdir(docs, { recursive: true });
    const names = markdown
      .map((file) => file.replaceAll('\\', '/'))
      .filter((file) => file.endsWith('.md') && !file.startsWith('decisions/'))
      .map((file) => file.slice(0, -'.md'.length))
      .toSorted((one, other) => placeOf(one) - placeOf(other) || (one < other ? -1 : 1));
    const pages = names.map(async (name) => {
      const text = await readFile(path.join(docs, `${name}.md`), 'utf8');
      return { name, title: /^# (.+)$/m.exec(text)?.[1] ?? name, group: groupOf(name), text };
    });
    const declarations = (await readdir(types)).filter((file) => file.endsWith('.d.ts')).toSorted();
    const code = declarations.map(async (file) => {
      const text = await readFile(path.join(types, file), 'utf8');
      const name = `types/${file}`;
      return { name, title: file, group: groupOf(name), text: `# ${file}\n\n\`\`\`ts\n${text}\`\`\`\n` };
    });
    return new HelpPages(await Promise.all([...pages, ...code]));
  }

  find(name: string): Page | undefined {
    return this.pages.find((page) => page.name === name);
  }

  /** Searches all pages. Results are cached by words. */
  async search(query: string): Promise<readonly HelpResult[]> {
    const words = [...new Set(query.toLowerCase().match(/[\p{L}\p{N}_]+/gu))].slice(0, maxWords);
    const key = words.join(' ');
    const known = this.#found.get(key);
    if (known !== undefined) return known;
    const found = await this.#search(words);
    this.#found.set(key, found);
    return found;
  }

  async #search(words: readonly string[]): Promise<HelpResult[]> {
    const weights = await mapInSlices(words, (word) => {
      const having = this.#sections.filter(({ body }) => body.includes(word)).length;
      return Math.log(1 + this.#sections.length / (1 + having));
    });
    const scored = await mapInSlices(this.#sections, (section) => ({
      section,
      score: scoreOf(section, words, weights),
    }));
    return scored
      .filter(({ score }) => score > 0)
      .toSorted((one, other) => other.score - one.score)
      .slice(0, maxPages)
      .map(({ section: { page, title, anchor, text } }) => ({
        page,
        section: title,
        anchor,
        text: text.length > maxText ? `${text.slice(0, maxText)}…` : text,
      }));
  }
}

/**
 * Scores a section. A word counts more in a title, and a section with all words ranks above one with many occurrences
 * of the same word.
 */
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

function sectionsOf({ name, title, group, text }: Page): Section[] {
  const page = { name, title, group };
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
      page,
      title: section,
      text: body,
      heading: section.toLowerCase(),
      body: body.toLowerCase(),
      anchor: place === 0 ? '' : helpAnchorOf(section),
    };
  });
}
