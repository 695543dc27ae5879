import type { CodePlace, Project } from '@phalanx/protocol';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Extension } from '@codemirror/state';
import { EditorView, keymap } from '@codemirror/view';

import { call } from '../../../api/call.ts';
import { ActionDialog } from '../../../parts/dialog.tsx';
import { TextField } from '../../../parts/field.tsx';
import { notify, notifyFailure } from '../../../parts/notices.tsx';
import { messageOf } from '../../../parts/states.tsx';
import { readStoredFile } from '../project.tsx';
import type { useOpenFile } from './use-open-file.ts';

/** Position of an identifier in a saved file. */
export interface NamedPlace {
  readonly path: string;
  readonly content: string;
  readonly position: number;
  readonly name: string;
}

interface RenameSymbolProps {
  projectId: string;
  place: NamedPlace;
  onClose: () => void;
}

/** Dialog that renames an identifier in all files. The service saves all of them or none. */
export function RenameSymbol({ projectId, place, onClose }: RenameSymbolProps) {
  const queries = useQueryClient();
  const [name, setName] = useState(place.name);
  const [problem, setProblem] = useState<string>();
  const params = { id: projectId };
  const rename = async (): Promise<void> => {
    try {
      const { path, content, position } = place;
      const body = { path, content, position };
      const { etag } = await call('GET /api/v2/automation/files/:id', { params, query: { limit: 1 } });
      const found = await call('POST /api/v2/automation/references/:id', { params, body });
      if (found.definition === null) return setProblem('It is not defined in this project.');
      const files = await renamed(projectId, found.references, name.trim());
      await call('PUT /api/v2/automation/files/:id', {
        params,
        body: { files, deleted: [], expected_etag: etag },
      });
      notify(`${place.name} is now ${name.trim()}`, `Changed: ${files.map((file) => file.path).join(', ')}`);
      await queries.invalidateQueries({ queryKey: ['files', projectId] });
      onClose();
    } catch (error) {
      setProblem(messageOf(error));
    }
  };
  return (
    <ActionDialog
      title={`Rename ${place.name}`}
      onClose={onClose}
      action="Rename"
      reason={
        /^[\p{L}_$][\p{L}\d_$]*$/u.test(name.trim()) && name.trim() !== place.name
          ? undefined
          : 'Enter a new name.'
      }
      onAct={rename}
    >
      <TextField
        label="New name"
        hint="Renames it in all files of the project, which are checked and saved together."
        problem={problem}
        value={name}
        onChange={setName}
      />
    </ActionDialog>
  );
}

async function renamed(
  projectId: string,
  references: readonly CodePlace[],
  name: string,
): Promise<{ path: string; content: string }[]> {
  const byPath = Map.groupBy(references, ({ path }) => path);
  return Promise.all(
    Array.from(byPath, async ([path, places]) => {
      const { content } = await readStoredFile(projectId, path);
      return { path, content: withName(content, places, name) };
    }),
  );
}

interface Range {
  readonly start: number;
  readonly end: number;
}

/** Returns the text with a new name at the given ranges. */
export function withName(text: string, places: readonly Range[], name: string): string {
  return places
    .toSorted((one, other) => other.start - one.start)
    .reduce((changed, { start, end }) => changed.slice(0, start) + name + changed.slice(end), text);
}

/** Actions that the editor's shortcuts perform on the identifier at a position. */
export interface CodeNavigation {
  readonly goToDefinition: (text: string, position: number) => void;
  readonly rename: (text: string, position: number, name: string) => void;
  /** Resolves with the formatted text, or with undefined if it can't be formatted. */
  readonly format: (text: string) => Promise<string | undefined>;
}

/** Binds F12 and Ctrl+click (definition), F2 (rename), and Shift+Alt+F (format). */
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

/** Replaces only the part that differs, so that the cursor keeps its position. */
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

/** Implements the editor's shortcuts for navigation, renaming and formatting. */
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
  /** Renames work on saved files only. */
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

/** Whether the file uses more single quotes than double quotes. */
function prefersSingleQuotes(text: string): boolean {
  return (text.match(/'/g)?.length ?? 0) >= (text.match(/"/g)?.length ?? 0);
}

/** Formats code or JSON with Prettier. Throws Prettier's error if the text does not parse. */
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
