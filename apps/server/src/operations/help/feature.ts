import { type HelpPage, helpRoutes } from '@phalanx/protocol';
import type { Context } from '../../http/context.ts';
import { ApiError } from '../../kernel/errors/api-error.ts';
import { addRoute } from '../../http/requests/route.ts';
import { HelpPages } from './help-pages.ts';

const intro = `# Phalanx

> A self-hosted service that runs TypeScript automations on a fleet of Android phones, under a REST API. This is the documentation of the version that runs here.
`;

/** `GET /api/v2/help…` · `GET /help/*.md` · `GET /llms.txt` · `GET /llms-full.txt`: public, like `/docs`. */
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
    // One concurrent search per IP address, because search is public.
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

/** Returns all pages in one, without the types, which the pages of `automation` describe in prose. */
const fullOf = ({ pages }: HelpPages): string =>
  [intro, ...pages.filter(({ name }) => !isTypes(name)).map(({ text }) => text)].join('\n');
