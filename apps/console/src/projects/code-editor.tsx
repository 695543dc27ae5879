import {
  autocompletion,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
} from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { javascript, localCompletionSource } from '@codemirror/lang-javascript';
import { json } from '@codemirror/lang-json';
import {
  bracketMatching,
  foldGutter,
  HighlightStyle,
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
import { tags } from '@lezer/highlight';
import { useEffect, useRef } from 'react';

import { completeAgent } from './complete-agent.ts';
import type { Finding } from './compiler-lines.ts';
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
  /** A line to show, from 1; another object shows it again. */
  jump: Jump;
  onChange: (text: string) => void;
  onSave: () => void;
  onRun: () => void;
}

const look = EditorView.theme({
  '&': { height: '100%', fontSize: '13px', backgroundColor: 'var(--surface)', color: 'var(--text)' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '20px' },
  '&.cm-focused': { outline: 'none' },
  '.cm-content': { caretColor: 'var(--text)', padding: '8px 0' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '.cm-gutters': { backgroundColor: 'var(--surface)', color: 'var(--text-3)', border: 'none' },
  '.cm-activeLine': { backgroundColor: 'var(--hover)' },
  '.cm-activeLineGutter': { backgroundColor: 'transparent', color: 'var(--text)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'color-mix(in srgb, var(--accent) 24%, transparent)',
  },
  '.cm-panels': { backgroundColor: 'var(--canvas)', color: 'var(--text)', borderColor: 'var(--border)' },
  '.cm-panels-bottom': { borderTop: '1px solid var(--border)' },
  '.cm-textfield': {
    backgroundColor: 'var(--surface)',
    border: '1px solid var(--control)',
    color: 'inherit',
  },
  '.cm-button': {
    backgroundImage: 'none',
    backgroundColor: 'var(--surface)',
    border: '1px solid var(--control)',
  },
  '.cm-tooltip': {
    backgroundColor: 'var(--surface)',
    color: 'var(--text)',
    border: '1px solid var(--border)',
    borderRadius: '6px',
    boxShadow: 'var(--shadow)',
  },
  '.cm-tooltip-autocomplete > ul > li[aria-selected]': {
    backgroundColor: 'var(--selection)',
    color: 'var(--text)',
  },
  '.cm-completionDetail': { color: 'var(--text-2)', fontStyle: 'normal' },
  '.cm-diagnostic-error': { borderLeftColor: 'var(--broken)' },
  '.cm-lintRange-error': {
    backgroundImage: 'none',
    textDecoration: 'underline wavy var(--broken) 1px',
    textUnderlineOffset: '3px',
  },
  '.cm-lintRange-warning': {
    backgroundImage: 'none',
    textDecoration: 'underline wavy var(--act) 1px',
    textUnderlineOffset: '3px',
  },
});

const colors = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword, tags.modifier], color: 'light-dark(#8a2a86, #d79be0)' },
  { tag: [tags.string, tags.special(tags.string), tags.regexp], color: 'light-dark(#13703f, #7fd3a3)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'light-dark(#855300, #f0b24a)' },
  { tag: [tags.comment], color: 'var(--text-3)' },
  {
    tag: [tags.typeName, tags.className, tags.definition(tags.typeName)],
    color: 'light-dark(#0b6477, #79c7d6)',
  },
  {
    tag: [tags.function(tags.variableName), tags.function(tags.propertyName)],
    color: 'light-dark(#1f55c4, #8db2ff)',
  },
]);

const nonce = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? '';

const languageOf = (path: string): Extension => {
  if (path.endsWith('.json')) return json();
  if (!/\.[mc]?[jt]sx?$/.test(path)) return [];
  const language = javascript({ typescript: /\.[mc]?tsx?$/.test(path), jsx: path.endsWith('x') });
  return [
    language,
    language.language.data.of({ autocomplete: localCompletionSource }),
    language.language.data.of({ autocomplete: completeAgent }),
  ];
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
          autocompletion({ icons: false }),
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
