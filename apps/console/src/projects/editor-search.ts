/** What the address says of a project's page. */
export interface EditorSearch {
  file?: string;
  line?: number;
}

export function editorSearch(given: Record<string, unknown>): EditorSearch {
  const { file, line } = given;
  return {
    ...(typeof file === 'string' && file !== '' ? { file } : {}),
    ...(typeof line === 'number' && line > 0 ? { line } : {}),
  };
}
