/** What the address says of a project's page. */
export interface EditorSearch {
  file?: string;
  line?: number;
  /** A group of records, whose screens are replayed. */
  group?: string;
}

export function editorSearch(given: Record<string, unknown>): EditorSearch {
  const { file, line, group } = given;
  return {
    ...(typeof file === 'string' && file !== '' ? { file } : {}),
    ...(typeof line === 'number' && line > 0 ? { line } : {}),
    ...(typeof group === 'string' && /^[0-9a-f-]{36}$/.test(group) ? { group } : {}),
  };
}
