import type { Extension } from '@codemirror/state';
import { EditorView, keymap } from '@codemirror/view';

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
