import { closeBrackets, closeBracketsKeymap, completionKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { javascript } from '@codemirror/lang-javascript';
import { json } from '@codemirror/lang-json';
import {
  bracketMatching,
  foldGutter,
  indentOnInput,
  indentUnit,
  syntaxHighlighting,
} from '@codemirror/language';
import { type Diagnostic, lintGutter, lintKeymap, setDiagnostics } from '@codemirror/lint';
import { highlightSelectionMatches, search, searchKeymap } from '@codemirror/search';
import {
  EditorState,
  type Extension,
  StateEffect,
  StateField,
  type Text,
  EditorSelection,
} from '@codemirror/state';
import {
  Decoration,
  type DecorationSet,
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
  ViewPlugin,
} from '@codemirror/view';
import { type RefObject, useEffect, useRef } from 'react';

import { codeAssist, type CodeAssistant, type Finding } from './code-assist.ts';
import { codeNavigation, type CodeNavigation } from './code-navigation.tsx';
import { colors, look } from './editor-look.ts';
import styles from './editor.module.css';

/** Keeps the caret in view when the editor shrinks. An editor scrolled away from the caret does not jump back. */
const keepCaretInView = ViewPlugin.fromClass(
  class {
    readonly #observer: ResizeObserver;

    constructor(view: EditorView) {
      let height = view.scrollDOM.clientHeight;
      this.#observer = new ResizeObserver(() => {
        const last = height;
        height = view.scrollDOM.clientHeight;
        const caret = view.coordsAtPos(view.state.selection.main.head);
        if (height >= last || caret === null) return;
        const { top } = view.scrollDOM.getBoundingClientRect();
        const wasInView = caret.top >= top && caret.top < top + last;
        if (wasInView && caret.bottom > top + height)
          view.dispatch({
            effects: EditorView.scrollIntoView(view.state.selection.main.head, { yMargin: 24 }),
          });
      });
      this.#observer.observe(view.scrollDOM);
    }

    destroy(): void {
      this.#observer.disconnect();
    }
  },
);

export interface Jump {
  readonly line?: number | undefined;
  /** Offset in UTF-16 units, used instead of the line. */
  readonly offset?: number | undefined;
}

interface CodeEditorProps {
  path: string;
  /** Initial text; the editor owns its text afterwards. */
  initial: { readonly text: string };
  isReadOnly: boolean;
  findings: readonly Finding[];
  assistant: CodeAssistant;
  navigation: CodeNavigation;
  /** Line to reveal, from 1. A new object reveals it again. */
  jump: Jump;
  /** Line that a run is executing, from 1. */
  runningLine: number | undefined;
  handle: RefObject<EditorHandle | null>;
  onChange: (text: string) => void;
  onSave: () => void;
  onRun: () => void;
  onRunSelection: () => void;
}

const nonce = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? '';

const languageOf = (path: string): Extension => {
  if (path.endsWith('.json')) return json();
  if (!/\.[mc]?[jt]sx?$/.test(path)) return [];
  return javascript({ typescript: /\.[mc]?tsx?$/.test(path), jsx: path.endsWith('x') });
};

/** Returns a diagnostic from the position of the finding to the end of the word. */
function diagnosticOf(text: Text, { line, column, message, severity }: Finding): Diagnostic {
  const at = text.line(Math.min(Math.max(1, line), text.lines));
  const from = Math.min(at.from + column - 1, at.to);
  const word = /^[\w$]+|^\S/.exec(text.sliceString(from, at.to))?.[0] ?? '';
  return { from, to: Math.min(at.to, from + word.length), severity, message };
}

/** Shows the findings, except for the word that is being typed, which may just be incomplete. */
function showFindings(view: EditorView, findings: readonly Finding[]): void {
  const { doc, selection } = view.state;
  const { head, empty } = selection.main;
  const isTyped = ({ from, to }: Diagnostic): boolean => view.hasFocus && empty && from < head && to === head;
  const shown = findings.map((finding) => diagnosticOf(doc, finding)).filter((one) => !isTyped(one));
  view.dispatch(setDiagnostics(view.state, shown));
}

function placeOf(text: Text, { line, offset }: Jump): number | undefined {
  if (offset !== undefined) return Math.min(offset, text.length);
  return line === undefined ? undefined : text.line(Math.min(line, text.lines)).from;
}

export function CodeEditor(props: CodeEditorProps) {
  const { path, initial, isReadOnly, findings, jump, runningLine: running, handle } = props;
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(undefined);
  const current = useRef(props);
  useEffect(() => {
    current.current = props;
  });
  useEffect(() => {
    const commands = [
      { key: 'Mod-s', run: () => (current.current.onSave(), true), preventDefault: true },
      { key: 'Mod-Shift-Enter', run: () => (current.current.onRunSelection(), true), preventDefault: true },
      { key: 'Mod-Enter', run: () => (current.current.onRun(), true), preventDefault: true },
    ];
    const editor = new EditorView({
      ...(place.current === null ? {} : { parent: place.current }),
      state: EditorState.create({
        doc: initial.text,
        extensions: [
          keymap.of(commands),
          EditorView.cspNonce.of(nonce),
          EditorView.contentAttributes.of({ 'aria-label': `Text of ${path}`, tabindex: '0' }),
          lineNumbers(),
          foldGutter(),
          lintGutter(),
          history(),
          drawSelection(),
          indentOnInput(),
          indentUnit.of('  '),
          bracketMatching(),
          closeBrackets(),
          codeAssist({
            findSymbol: (...where) => current.current.assistant.findSymbol(...where),
            listCompletions: (...where) => current.current.assistant.listCompletions(...where),
          }),
          codeNavigation({
            goToDefinition: (...where) => current.current.navigation.goToDefinition(...where),
            rename: (...where) => current.current.navigation.rename(...where),
            format: (text) => current.current.navigation.format(text),
          }),
          search({ top: true }),
          highlightActiveLine(),
          highlightActiveLineGutter(),
          highlightSelectionMatches(),
          syntaxHighlighting(colors),
          languageOf(path),
          look,
          EditorState.readOnly.of(isReadOnly),
          keepCaretInView,
          runningLine,
          EditorView.updateListener.of((update) => {
            if (update.docChanged) current.current.onChange(update.state.doc.toString());
            else if (update.selectionSet)
              window.setTimeout(() => {
                if (view.current === update.view) showFindings(update.view, current.current.findings);
              });
          }),
          keymap.of([
            ...closeBracketsKeymap,
            ...defaultKeymap,
            ...searchKeymap,
            ...historyKeymap,
            ...completionKeymap,
            ...lintKeymap,
            indentWithTab,
          ]),
        ],
      }),
    });
    view.current = editor;
    handle.current = handleOf(editor);
    return () => {
      handle.current = null;
      editor.destroy();
    };
  }, [path, initial, isReadOnly, handle]);
  useEffect(() => {
    if (view.current !== undefined) showFindings(view.current, findings);
  }, [findings, path, initial, isReadOnly]);
  useEffect(() => {
    const editor = view.current;
    const at = editor === undefined ? undefined : placeOf(editor.state.doc, jump);
    if (editor === undefined || at === undefined) return;
    editor.dispatch({ selection: { anchor: at }, effects: EditorView.scrollIntoView(at, { y: 'center' }) });
    editor.focus();
  }, [jump, path, initial]);
  useEffect(() => {
    view.current?.dispatch({ effects: markRunningLine.of(running ?? null) });
  }, [running, path, initial, isReadOnly]);
  return <div ref={place} className={styles['editor']} />;
}

/** Line that a run is executing, from 1; null when nothing runs in this file. */
const markRunningLine = StateEffect.define<number | null>();

const mark = Decoration.line({ class: 'cm-running' });

/** Mark of the running line; follows its line when text is inserted above. */
const runningLine = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(marks, { changes, effects, state: { doc } }) {
    const effect = effects.find((one) => one.is(markRunningLine));
    if (effect === undefined) return marks.map(changes);
    const line = effect.value;
    if (line === null || line < 1 || line > doc.lines) return Decoration.none;
    return Decoration.set([mark.range(doc.line(line).from)]);
  },
  provide: (field) => EditorView.decorations.from(field),
});

/** Gives other components access to the editor's text. */
export interface EditorHandle {
  /**
   * Inserts whole lines at the cursor or replaces the selected lines, keeps the indentation, and moves the cursor
   * behind them.
   */
  readonly insert: (code: string) => void;
  /** Returns the selected text and its first line, from 1. */
  readonly selection: () => { readonly text: string; readonly line: number } | undefined;
  readonly focus: () => void;
}

/** Editor that receives code from the phone pane. */
export interface CodeSink {
  /** Inserts whole lines at the cursor or replaces the selected lines. */
  readonly insert: (code: string) => void;
  /** Reason why no code can be inserted. */
  readonly reason: string | undefined;
}

const handleOf = (view: EditorView): EditorHandle => ({
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
  // Focuses the editor: its shortcuts run the code and undo the insertion, the likely next steps.
  view.focus();
}
