import { autocompletion, type CompletionContext, type CompletionResult } from '@codemirror/autocomplete';
import { localCompletionSource } from '@codemirror/lang-javascript';
import { syntaxTree } from '@codemirror/language';
import { StateEffect, StateField, type EditorState, type Extension } from '@codemirror/state';
import { EditorView, hoverTooltip, keymap, showTooltip, type Tooltip } from '@codemirror/view';

import type { Reply } from '../../../api/call.ts';

export type CodeSymbol = NonNullable<Reply<'POST /api/v2/automation/symbol/:id'>['symbol']>;
type CodeCompletion = Reply<'POST /api/v2/automation/completions/:id'>['completions'][number];

/**
 * Client of the service's type checker for a position in the text; resolves with an empty result when the checker is
 * unreachable.
 */
export interface CodeAssistant {
  readonly findSymbol: (text: string, position: number) => Promise<CodeSymbol | null>;
  readonly listCompletions: (text: string, position: number) => Promise<CodeCompletion[]>;
}

function element(className: string, text = ''): HTMLElement {
  const made = document.createElement('div');
  made.className = className;
  made.textContent = text;
  return made;
}

const completeFrom =
  ({ listCompletions }: CodeAssistant) =>
  async (context: CompletionContext): Promise<CompletionResult | null> => {
    const from = context.matchBefore(/[\w$]*/)?.from ?? context.pos;
    const before = context.state.sliceDoc(Math.max(0, from - 1), from);
    const isAsked = context.explicit || from < context.pos || /[.'"]/.test(before);
    if (!isAsked || syntaxTree(context.state).resolveInner(context.pos, -1).name.includes('Comment'))
      return null;
    const found = await listCompletions(context.state.doc.toString(), context.pos);
    if (found.length === 0) return null;
    const options = found.map(({ name, kind, type, documentation }) => ({
      label: name,
      type: kind,
      detail: type.slice(0, 80),
      ...(documentation === '' ? {} : { info: documentation }),
    }));
    return { from, options, validFor: /^[\w$]*$/ };
  };

const hoverFrom = ({ findSymbol }: CodeAssistant): Extension =>
  hoverTooltip(async (view, position): Promise<Tooltip | null> => {
    const word = view.state.wordAt(position);
    if (word === null) return null;
    const symbol = await findSymbol(view.state.doc.toString(), word.from);
    return (
      symbol && { pos: word.from, end: word.to, above: true, create: () => ({ dom: symbolBox(symbol) }) }
    );
  });

function symbolBox({ name, type, documentation }: CodeSymbol): HTMLElement {
  const box = element('cm-symbol');
  box.append(element('cm-symbol-type', `${name}: ${type}`));
  if (documentation !== '') box.append(element('cm-symbol-text', documentation));
  return box;
}

/** Call expression whose argument list contains the cursor. */
interface Call {
  /** Offset of the first argument. */
  readonly from: number;
  readonly symbol: CodeSymbol;
}

const showCall = StateEffect.define<Call | null>();

function findArguments(state: EditorState) {
  const { head } = state.selection.main;
  for (let node = syntaxTree(state).resolveInner(head, -1); ;) {
    if (node.name === 'ArgList' && node.from < head) return node;
    if (node.parent === null || node.name === 'Block') return undefined;
    node = node.parent;
  }
}

/** Returns the index of the parameter at the cursor, from 0. */
function parameterAt(state: EditorState): number {
  const commas = findArguments(state)?.getChildren(',') ?? [];
  return commas.filter(({ from }) => from < state.selection.main.head).length;
}

const call = StateField.define<Call | null>({
  create: () => null,
  update(value, { state, changes, effects }) {
    const effect = effects.find((one) => one.is(showCall));
    const known = effect === undefined ? value : effect.value;
    if (known === null) return null;
    const from = effect === undefined ? changes.mapPos(known.from) : known.from;
    if (findArguments(state)?.from !== from) return null;
    return from === known.from ? known : { ...known, from };
  },
  provide: (field) => showTooltip.from(field, (value) => value && callTooltip(value)),
});

const callTooltip = ({ from, symbol }: Call): Tooltip => ({
  pos: from,
  above: true,
  create: (view) => {
    const dom = element('cm-symbol');
    const draw = (state: EditorState): void => dom.replaceChildren(...callLines(symbol, parameterAt(state)));
    draw(view.state);
    return { dom, update: ({ state }) => draw(state) };
  },
});

function callLines({ name, signatures, documentation }: CodeSymbol, current: number): HTMLElement[] {
  const lines = signatures.map(({ parameters, returns }) => {
    const line = element('cm-symbol-type', `${name}(`);
    for (const [index, text] of parameters.entries()) {
      const isCurrent = index === Math.min(current, parameters.length - 1);
      const parameter = document.createElement(isCurrent ? 'b' : 'span');
      parameter.textContent = text;
      line.append(index === 0 ? '' : ', ', parameter);
    }
    line.append(`): ${returns}`);
    return line;
  });
  return documentation === '' ? lines : [...lines, element('cm-symbol-text', documentation)];
}

/** Shows the signature of the called function while its arguments are typed. */
const signaturesFrom = ({ findSymbol }: CodeAssistant): Extension => {
  const ask = async (view: EditorView): Promise<void> => {
    const from = findArguments(view.state)?.from;
    if (from === undefined) return;
    const symbol = await findSymbol(view.state.doc.toString(), from - 1);
    const isStill = findArguments(view.state)?.from === from;
    if (isStill && symbol !== null && symbol.signatures.length > 0)
      view.dispatch({ effects: showCall.of({ from, symbol }) });
  };
  const close = (view: EditorView): boolean => {
    if (view.state.field(call) === null) return false;
    view.dispatch({ effects: showCall.of(null) });
    return true;
  };
  return [
    call,
    EditorView.updateListener.of(({ view, docChanged, state }) => {
      const { head } = state.selection.main;
      const typed = state.sliceDoc(Math.max(0, head - 2), head);
      if (docChanged && state.field(call) === null && /\($|,\s?$/.test(typed)) void ask(view);
    }),
    keymap.of([
      { key: 'Mod-Shift-Space', run: (view) => (void ask(view), true) },
      { key: 'Escape', run: close },
    ]),
  ];
};

/** Completion, hover and signature help, backed by the service's type checker. */
export const codeAssist = (assistant: CodeAssistant): Extension => [
  autocompletion({ icons: false, override: [completeFrom(assistant), localCompletionSource] }),
  hoverFrom(assistant),
  signaturesFrom(assistant),
];

/** Diagnostic of the compiler; line and column start at 1. */
export interface Finding {
  readonly path: string;
  readonly line: number;
  readonly column: number;
  readonly message: string;
  readonly severity: 'error' | 'warning';
}

/** Parses lines such as `main.ts(3,7): error TS2305: …`. */
export function readFindings(lines: readonly string[], severity: Finding['severity']): Finding[] {
  return lines.flatMap((text) => {
    const match = /^(.+?)(?:\((\d+),(\d+)\))?: error (TS\d+: [^]*)$/.exec(text);
    if (match === null) return [];
    const [, path = '', line = '1', column = '1', message = ''] = match;
    return [{ path, line: Number(line), column: Number(column), message, severity }];
  });
}
