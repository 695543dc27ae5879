interface PageGroup {
  readonly group: string;
  /** Names of pages, in the order in which they are read. */
  readonly pages: readonly string[];
}

/** The pages of the documentation, grouped by what a reader wants to do. */
export const pageGroups: readonly PageGroup[] = [
  { group: 'Get started', pages: ['tutorial', 'recipes', 'glossary'] },
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
  { group: 'Testing', pages: ['testing-automations', 'simulated-phone'] },
  { group: 'Jobs', pages: ['jobs-and-schedules', 'webhooks'] },
  { group: 'Review', pages: ['groups-of-unknown-screens'] },
  { group: 'Agents', pages: ['coding-agents'] },
  { group: 'Operating', pages: ['operating', 'security'] },
  { group: 'Reference', pages: ['reference', 'errors', 'client'] },
];

const names = pageGroups.flatMap(({ pages }) => pages);

/** The group of a page; the declarations of the types are part of the reference. */
export const groupOf = (name: string): string =>
  pageGroups.find(({ pages }) => pages.includes(name))?.group ?? 'Reference';

/** Position of a page among all. Pages that no group names come last. */
export function placeOf(name: string): number {
  const place = names.indexOf(name);
  return place === -1 ? names.length : place;
}
