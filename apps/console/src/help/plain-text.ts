/** What a reader sees of Markdown, on one line. */
export const plainText = (markdown: string): string =>
  markdown
    .replaceAll(/^```\w*$/gm, '')
    .replaceAll(/^\|[\s|:-]+\|$/gm, '')
    .replaceAll(/^\s*(?:#+|>|[-*]|\d+\.)\s+/gm, '')
    .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/\*\*|`/g, '')
    .replaceAll('|', ' ')
    .replaceAll(/\s+/g, ' ')
    .trim();
