import { EditorSelection } from '@codemirror/state';
import type { EditorView } from '@codemirror/view';

/** What others do with the text that is open. */
export interface EditorHandle {
  /** Writes whole lines at the cursor or in place of the selected lines, indented as they are, and goes behind them. */
  readonly insert: (code: string) => void;
  /** What is selected, with the line where it begins, from 1. */
  readonly selection: () => { readonly text: string; readonly line: number } | undefined;
  readonly focus: () => void;
}

/** Where the phone's code goes. */
export interface CodeSink {
  /** Writes whole lines at the cursor, or in place of the selected lines. */
  readonly insert: (code: string) => void;
  /** Why nothing can be written. */
  readonly reason: string | undefined;
}

export const handleOf = (view: EditorView): EditorHandle => ({
  insert: (code) => insertLines(view, code),
  selection: () => {
    const { from, to } = view.state.selection.main;
    if (from === to) return undefined;
    return { text: view.state.sliceDoc(from, to), line: view.state.doc.lineAt(from).number };
  },
  focus: () => view.focus(),
});

function insertLines(view: EditorView, code: string): void {
  const { doc, selection } = view.state;
  const first = doc.lineAt(selection.main.from);
  const last = doc.lineAt(selection.main.to);
  const indentation = /^\s*/.exec(first.text)?.[0] ?? '';
  const lines = code.split('\n').map((one) => `${indentation}${one}`);
  const isReplaced = !selection.main.empty || first.text.trim() === '';
  const from = isReplaced ? first.from : last.to;
  const insert = isReplaced ? lines.join('\n') : `\n${lines.join('\n')}`;
  view.dispatch({
    changes: { from, to: last.to, insert },
    selection: EditorSelection.cursor(from + insert.length),
    scrollIntoView: true,
    userEvent: 'input.insert',
  });
  // What comes next is to run it, or to undo it: both are keys of the editor.
  view.focus();
}
