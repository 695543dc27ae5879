/** Parts of the doc comment of a declaration. */
export interface DeclaredDoc {
  readonly text: string;
  readonly parameters: readonly { readonly name: string; readonly text: string }[];
  /** Self-contained TypeScript. */
  readonly examples: readonly string[];
}

export function parseDoc(comment: string): DeclaredDoc {
  const lines = comment
    .replace(/^\*\s?/, '')
    .split('\n')
    .map((line) => line.replace(/^\s*\* ?/, '').trimEnd());
  const [text = '', ...tags] = lines.join('\n').split(/^@(?=param |example)/m);
  return {
    text: text.trim(),
    parameters: tags.flatMap((tag) => {
      const [, name, said] = /^param (\w+) ([^]*)$/.exec(tag) ?? [];
      return name === undefined || said === undefined ? [] : [{ name, text: inOneLine(said) }];
    }),
    examples: tags.flatMap((tag) => (tag.startsWith('example') ? tag.slice('example'.length).trim() : [])),
  };
}

/** Removes comments and the final semicolon. */
export function inOneLine(source: string): string {
  return source
    .replaceAll(/\/\*\*.*?\*\//gs, '')
    .replaceAll(/\/\/.*$/gm, '')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/\( | ?,? (?=\))/g, (part) => part.trim().replace(',', ''))
    .replace('= | ', '= ')
    .replace(/;$/, '')
    .trim();
}
