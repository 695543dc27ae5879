import { Type, type Static } from 'typebox';

import { success, type RouteContract } from '../contract.ts';

const pageName = Type.String({
  maxLength: 200,
  description:
    'The path of the page below `docs` without `.md`, or `types/` and the name of a declaration file',
  examples: ['errors'],
});

export const HelpPage = Type.Object(
  {
    name: pageName,
    title: Type.String(),
    group: Type.String({
      description: 'The topic of the page, such as `Operating`. Pages of one group are listed together',
    }),
  },
  { title: 'HelpPage', description: 'A page of the documentation, for the version of this service' },
);
export type HelpPage = Static<typeof HelpPage>;

export const HelpResult = Type.Object(
  {
    page: HelpPage,
    section: Type.String({ description: 'Title of the section' }),
    anchor: Type.String({
      description: 'Anchor of the section within its page; empty for the beginning of the page',
    }),
    text: Type.String({ description: 'Markdown of the section, truncated to 2,000 characters' }),
  },
  { title: 'HelpResult' },
);
export type HelpResult = Static<typeof HelpResult>;

/** Documentation of the running version of the service. */
export const helpRoutes = {
  list: {
    method: 'GET',
    path: '/api/v2/help',
    operationId: 'listHelpPages',
    tag: 'Service',
    summary: 'List the pages of the documentation',
    description: 'Each page is also available as Markdown at `/help/<name>.md`.',
    scope: null,
    reach: null,
    responses: { 200: Type.Object({ success, pages: Type.Array(HelpPage) }) },
  },
  read: {
    method: 'GET',
    path: '/api/v2/help/page',
    operationId: 'readHelpPage',
    tag: 'Service',
    summary: 'Read a page of the documentation',
    scope: null,
    reach: null,
    query: Type.Object({ name: pageName }),
    responses: {
      200: Type.Object({ success, page: HelpPage, text: Type.String({ description: 'Markdown' }) }),
    },
    errors: ['help_page_not_found'],
  },
  search: {
    method: 'GET',
    path: '/api/v2/help/search',
    operationId: 'searchHelp',
    tag: 'Service',
    summary: 'Search the documentation',
    description: 'Returns the ten sections that match the most words of the query, best match first.',
    scope: null,
    reach: null,
    query: Type.Object({
      query: Type.String({ minLength: 1, maxLength: 200, examples: ['device_leased'] }),
    }),
    responses: { 200: Type.Object({ success, results: Type.Array(HelpResult) }) },
  },
} as const satisfies Record<string, RouteContract>;

/** Returns the anchor of a heading as GitHub generates it, so that links between pages work in both places. */
export const helpAnchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-');
