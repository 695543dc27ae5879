/** Gives what a reader sees of a title, or of another text on one line. */
export const plainLine = (markdown: string): string =>
  markdown.replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll(/\*\*|`/g, '');

/** Gives what a reader sees of Markdown, as one line. */
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
