import { helpRoutes } from '@phalanx/protocol';
import { Type } from 'typebox';

import { defineTool, reading, type Tool } from '../tool.ts';

/** Maximum length of a reply, in characters: some 800 tokens. */
const maxLetters = 3000;

export const docTools: readonly Tool[] = [
  defineTool({
    name: 'search_docs',
    title: 'Search the documentation',
    description: 'Documentation: how the global agent is used, what an error code means.',
    scopes: ['read'],
    hints: reading,
    input: Type.Object({ query: Type.String({ minLength: 1, maxLength: 200 }) }),
    run: async (api, { query }) => {
      const { results } = await api.call(helpRoutes.search, { query: { query } });
      if (results.length === 0)
        return ['No page has these words. Try a name of the interface, or an error code.'];
      const shown: string[] = [];
      let left = maxLetters;
      for (const { page, anchor, text } of results) {
        if (left <= 0) break;
        const part = text.length > left ? `${text.slice(0, left)}…` : text;
        left -= part.length;
        shown.push(`[phalanx://docs/${page.name}${anchor === '' ? '' : `#${anchor}`}]\n${part}`);
      }
      return [shown.join('\n\n')];
    },
  }),
];
