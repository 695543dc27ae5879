/** Returns the visible text of a heading or of another single line. */
export const plainLine = (markdown: string): string =>
  markdown.replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll(/\*\*|`/g, '');

/** Returns the visible text of Markdown as one line. */
export const plainText = (markdown: string): string =>
  plainLine(
    markdown
      .replaceAll(/^```\w*$/gm, '')
      .replaceAll(/^\|[\s|:-]+\|$/gm, '')
      .replaceAll(/^\s*(?:#+|>|[-*]|\d+\.)\s+/gm, '')
      .replaceAll('|', ' '),
  )
    .replaceAll(/\s+/g, ' ')
    .trim();
