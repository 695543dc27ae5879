interface PageGroup {
  readonly group: string;
  /** Names of pages, in reading order. */
  readonly pages: readonly string[];
}

/** Pages of the documentation, grouped by the reader's goal. */
export const pageGroups: readonly PageGroup[] = [
  { group: 'Get started', pages: ['concepts', 'tutorial', 'first-real-phone', 'recipes', 'faq', 'glossary'] },
  {
    group: 'Automations',
    pages: [
      'agent',
      'actions',
      'waits',
      'stages',
      'android-node',
      'apps',
      'files',
      'job',
      'messages',
      'records',
      'web',
      'web-fetch',
      'web-crypto',
      'web-events',
      'not-here',
    ].map((name) => `automation/${name}`),
  },
  { group: 'Projects', pages: ['git'] },
  { group: 'Testing', pages: ['testing-automations', 'simulated-phone'] },
  { group: 'Jobs', pages: ['jobs-and-schedules', 'webhooks'] },
  { group: 'Review', pages: ['groups-of-unknown-screens'] },
  { group: 'Agents', pages: ['coding-agents'] },
  { group: 'Operating', pages: ['operating', 'security'] },
  { group: 'Reference', pages: ['reference', 'settings', 'cli', 'errors', 'client'] },
];

const names = pageGroups.flatMap(({ pages }) => pages);

/** Returns the group of a page. Type declarations belong to the reference. */
export const groupOf = (name: string): string =>
  pageGroups.find(({ pages }) => pages.includes(name))?.group ?? 'Reference';

/** Returns the position of a page among all pages. Ungrouped pages come last. */
export function placeOf(name: string): number {
  const place = names.indexOf(name);
  return place === -1 ? names.length : place;
}
