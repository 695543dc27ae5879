import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';

import { type HelpPage, helpRoutes, helpAnchorOf, type HelpResult } from '@phalanx/protocol';

import type { Context } from '../../http/context.ts';
import { boundedCache } from '../../kernel/bounded-cache.ts';
import { ApiError } from '../../kernel/errors/api-error.ts';
import { addRoute } from '../../http/requests/route.ts';
import { mapInSlices } from '../../kernel/limits/time-slice.ts';
import { groupOf, placeOf } from './page-groups.ts';

const intro = `# Phalanx

> A self-hosted service that runs TypeScript automations on a fleet of Android phones, under a REST API. This is the documentation of the version that runs here.
`;

/** `GET /api/v2/help…` · `GET /help/*.md` · `GET /llms.txt` · `GET /llms-full.txt`: open to everybody, as `/docs` is. */
export async function serveHelp({ app, limits }: Context): Promise<readonly HelpPage[]> {
  const help = await HelpPages.read();
  const pages = help.pages.map(({ name, title, group }) => ({ name, title, group }));
  const get = (name: string) => {
    const page = help.find(name);
    if (page === undefined) throw ApiError.of('help_page_not_found', { name });
    return page;
  };
  addRoute(app, helpRoutes.list, async () => ({ success: true, pages }));
  addRoute(app, helpRoutes.read, async ({ query }) => {
    const { name, title, group, text } = get(query.name);
    return { success: true, page: { name, title, group }, text };
  });
  addRoute(app, helpRoutes.search, async ({ query, raw }) => {
    // One at a time of each address: anybody may search.
    const results = await limits.turns.searches.run(raw.ip, () => help.search(query.query));
    return { success: true, results: [...results] };
  });

  const serve = (address: string, type: 'plain' | 'markdown', text: string): unknown =>
    app.get(address, { config: { scope: null, reach: null, isStatic: true } }, (_request, reply) =>
      reply.type(`text/${type}; charset=utf-8`).send(text),
    );
  serve('/llms.txt', 'plain', listOf(pages));
  serve('/llms-full.txt', 'plain', fullOf(help));
  for (const { name, text } of help.pages) serve(`/help/${name}.md`, 'markdown', text);
  return pages;
}

const isTypes = (name: string): boolean => name.startsWith('types/');

function listOf(pages: readonly { name: string; title: string }[]): string {
  const list = (chosen: typeof pages): string =>
    chosen.map(({ name, title }) => `- [${title}](/help/${name}.md)`).join('\n');
  return [
    intro,
    `## Pages\n\n${list(pages.filter(({ name }) => !isTypes(name)))}\n`,
    `## Types of the global agent\n\n${list(pages.filter(({ name }) => isTypes(name)))}\n`,
    '## Other\n\n- [The OpenAPI document](/api/openapi.json)\n- [All pages in one](/llms-full.txt)\n',
  ].join('\n');
}

/** Without the types, which the pages of `automation` have in words. */
const fullOf = ({ pages }: HelpPages): string =>
  [intro, ...pages.filter(({ name }) => !isTypes(name)).map(({ text }) => text)].join('\n');

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
  /** Title and text in lower case, for the search. */
  readonly heading: string;
  readonly body: string;
}

const most = 10;
/** Anybody may search, and each word is looked for in all pages. */
const mostWords = 12;
const maxText = 2000;
/** Searches whose results are kept, of up to 20 KB each. */
const maxFound = 500;

/** The documentation of this version: the pages for users, and the declarations of the global `agent`. */
export class HelpPages {
  readonly pages: readonly Page[];
  readonly #sections: readonly Section[];
  readonly #found = boundedCache<readonly HelpResult[]>(maxFound);

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

  /** The same words are looked for once. */
  async search(query: string): Promise<readonly HelpResult[]> {
    const words = [...new Set(query.toLowerCase().match(/[\p{L}\p{N}_]+/gu))].slice(0, mostWords);
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
      .slice(0, most)
      .map(({ section: { page, title, anchor, text } }) => ({
        ...{ page, section: title, anchor },
        text: text.length > maxText ? `${text.slice(0, maxText)}…` : text,
      }));
  }
}

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
      ...{ page, title: section, text: body, heading: section.toLowerCase(), body: body.toLowerCase() },
      anchor: place === 0 ? '' : helpAnchorOf(section),
    };
  });
}
