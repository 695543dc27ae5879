import type { Extension } from '@codemirror/state';
import { EditorView, keymap } from '@codemirror/view';
import type { Project } from '@phalanx/protocol';

import { call } from '../../api/call.ts';
import { notifyFailure } from '../../parts/notices.tsx';
import type { NamedPlace } from './rename-symbol.tsx';
import type { useOpenFile } from './use-open-file.ts';

/** What the keys of an editor do with the name at a place. */
export interface CodeNavigation {
  readonly goToDefinition: (text: string, position: number) => void;
  readonly rename: (text: string, position: number, name: string) => void;
  /** Resolves with the formatted text, or with nothing when it can't be formatted. */
  readonly format: (text: string) => Promise<string | undefined>;
}

/** F12 and Ctrl+click, F2, and Shift+Alt+F. */
export const codeNavigation = ({ goToDefinition, rename, format }: CodeNavigation): Extension => [
  EditorView.domEventHandlers({
    mousedown: (event, view) => {
      if (!(event.ctrlKey || event.metaKey) || event.button !== 0) return false;
      const position = view.posAtCoords({ x: event.clientX, y: event.clientY });
      if (position === null || view.state.wordAt(position) === null) return false;
      event.preventDefault();
      goToDefinition(view.state.doc.toString(), position);
      return true;
    },
  }),
  keymap.of([
    {
      key: 'F12',
      run: ({ state }) => (goToDefinition(state.doc.toString(), state.selection.main.head), true),
    },
    {
      key: 'F2',
      run: ({ state }) => {
        const word = state.wordAt(state.selection.main.head);
        if (word === null) return false;
        rename(state.doc.toString(), word.from, state.sliceDoc(word.from, word.to));
        return true;
      },
    },
    { key: 'Shift-Alt-f', run: (view) => (void formatWith(view, format), true), preventDefault: true },
  ]),
];

/** Changes only what differs, so that the cursor stays where it was. */
async function formatWith(view: EditorView, format: CodeNavigation['format']): Promise<void> {
  const { doc } = view.state;
  const before = doc.toString();
  const after = await format(before);
  if (after === undefined || after === before || view.state.doc !== doc) return;
  let from = 0;
  while (from < before.length && before[from] === after[from]) from += 1;
  let [end, newEnd] = [before.length, after.length];
  while (end > from && newEnd > from && before[end - 1] === after[newEnd - 1])
    [end, newEnd] = [end - 1, newEnd - 1];
  view.dispatch({
    changes: { from, to: end, insert: after.slice(from, newEnd) },
    userEvent: 'input.format',
  });
}

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
