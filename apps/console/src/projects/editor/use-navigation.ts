import type { Project } from '@phalanx/protocol';

import { call } from '../../api/call.ts';
import { notifyFailure } from '../../parts/notices.tsx';
import type { CodeNavigation } from './code-navigation.ts';
import type { NamedPlace } from './rename-symbol.tsx';
import type { useOpenFile } from './use-open-file.ts';

interface NavigationParts {
  project: Project;
  path: string | undefined;
  open: ReturnType<typeof useOpenFile>;
  onOpen: (file: string, line?: number, offset?: number) => void;
  onRename: (place: NamedPlace) => void;
}

/** What the keys of the editor do with names, and with the text as a whole. */
export function useNavigation({
  project,
  path = '',
  open,
  onOpen,
  onRename,
}: NavigationParts): CodeNavigation {
  const goToDefinition = async (content: string, position: number): Promise<void> => {
    const input = { params: { id: project.id }, body: { path, content, position } };
    const { definition } = await call('POST /api/v2/automation/references/:id', input);
    if (definition === null)
      throw new Error('It is not defined in this project. Point at it to see what it is.');
    onOpen(definition.path, undefined, definition.start);
  };
  /** Names are changed in saved files alone. */
  const rename = async (content: string, position: number, name: string): Promise<void> => {
    if (await open.save()) onRename({ path, content, position, name });
  };
  return {
    goToDefinition: (...where) =>
      void goToDefinition(...where).catch((error: unknown) => notifyFailure('No definition', error)),
    rename: (...where) => void rename(...where),
    format: (text) =>
      formatCode(path, text).catch((error: unknown) => {
        notifyFailure('The file was not formatted', error);
        return undefined;
      }),
  };
}

/** How many lines have each kind of quotes says which one the file prefers. */
function prefersSingleQuotes(text: string): boolean {
  return (text.match(/'/g)?.length ?? 0) >= (text.match(/"/g)?.length ?? 0);
}

/** Code or JSON as Prettier writes it. Throws what it says of text that does not parse. */
async function formatCode(path: string, text: string): Promise<string> {
  const [{ format }, babel, estree] = await Promise.all([
    import('prettier/standalone'),
    import('prettier/plugins/babel'),
    import('prettier/plugins/estree'),
  ]);
  return format(text, {
    parser: path.endsWith('.json') ? 'json' : 'babel-ts',
    plugins: [babel, estree],
    printWidth: 100,
    singleQuote: prefersSingleQuotes(text),
  });
}
