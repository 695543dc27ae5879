import { StateEffect, StateField } from '@codemirror/state';
import { Decoration, EditorView, type DecorationSet } from '@codemirror/view';

/** The line that a run is at, from 1; null when nothing runs in this file. */
export const markRunningLine = StateEffect.define<number | null>();

const mark = Decoration.line({ class: 'cm-running' });

/** The mark goes with its line when somebody types above it. */
export const runningLine = StateField.define<DecorationSet>({
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
