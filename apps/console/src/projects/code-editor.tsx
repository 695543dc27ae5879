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
import { lintGutter, lintKeymap, setDiagnostics, type Diagnostic } from '@codemirror/lint';
import { highlightSelectionMatches, searchKeymap } from '@codemirror/search';
import { EditorState, type Extension, type Text } from '@codemirror/state';
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
} from '@codemirror/view';
import { useEffect, useRef } from 'react';

import { codeAssist, type CodeAssistant } from './code-assist.ts';
import type { Finding } from './compiler-lines.ts';
import { colors, look } from './editor-look.ts';
import styles from './editor.module.css';

export interface Jump {
  readonly line: number | undefined;
}

interface CodeEditorProps {
  path: string;
  /** What stands there at first; the editor has its own text from then on. */
  initial: { readonly text: string };
  isReadOnly: boolean;
  findings: readonly Finding[];
  assistant: CodeAssistant;
  /** A line to show, from 1; another object shows it again. */
  jump: Jump;
  onChange: (text: string) => void;
  onSave: () => void;
  onRun: () => void;
}

const nonce = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? '';

const languageOf = (path: string): Extension => {
  if (path.endsWith('.json')) return json();
  if (!/\.[mc]?[jt]sx?$/.test(path)) return [];
  return javascript({ typescript: /\.[mc]?tsx?$/.test(path), jsx: path.endsWith('x') });
};

/** From the finding's place to the end of the word there. */
function diagnosticOf(text: Text, { line, column, message, severity }: Finding): Diagnostic {
  const at = text.line(Math.min(Math.max(1, line), text.lines));
  const from = Math.min(at.from + column - 1, at.to);
  const word = /^[\w$]+|^\S/.exec(text.sliceString(from, at.to))?.[0] ?? '';
  return { from, to: Math.min(at.to, from + word.length), severity, message };
}

export function CodeEditor(props: CodeEditorProps) {
  const { path, initial, isReadOnly, findings, jump } = props;
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(undefined);
  const current = useRef(props);
  useEffect(() => {
    current.current = props;
  });
  useEffect(() => {
    const commands = [
      { key: 'Mod-s', run: () => (current.current.onSave(), true), preventDefault: true },
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
          highlightActiveLine(),
          highlightActiveLineGutter(),
          highlightSelectionMatches(),
          syntaxHighlighting(colors),
          languageOf(path),
          look,
          EditorState.readOnly.of(isReadOnly),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) current.current.onChange(update.state.doc.toString());
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
    return () => editor.destroy();
  }, [path, initial, isReadOnly]);
  useEffect(() => {
    const editor = view.current;
    if (editor === undefined) return;
    const { state } = editor;
    editor.dispatch(
      setDiagnostics(
        state,
        findings.map((finding) => diagnosticOf(state.doc, finding)),
      ),
    );
  }, [findings, path, initial, isReadOnly]);
  useEffect(() => {
    const editor = view.current;
    if (editor === undefined || jump.line === undefined) return;
    const at = editor.state.doc.line(Math.min(jump.line, editor.state.doc.lines));
    const effects = EditorView.scrollIntoView(at.from, { y: 'center' });
    editor.dispatch({ selection: { anchor: at.from }, effects });
    editor.focus();
  }, [jump, path, initial]);
  return <div ref={place} className={styles['editor']} />;
}
