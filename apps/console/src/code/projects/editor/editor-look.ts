import { HighlightStyle } from '@codemirror/language';
import { EditorView } from '@codemirror/view';
import { tags } from '@lezer/highlight';

export const look = EditorView.theme({
  '&': { height: '100%', fontSize: '13px', backgroundColor: 'var(--surface)', color: 'var(--text)' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '20px' },
  '&.cm-focused': { outline: 'none' },
  '.cm-content': { caretColor: 'var(--text)', padding: '8px 0' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '.cm-gutters': { backgroundColor: 'var(--surface)', color: 'var(--text-3)', border: 'none' },
  '.cm-activeLine': { backgroundColor: 'var(--hover)' },
  '.cm-running': {
    backgroundColor: 'color-mix(in srgb, var(--busy) 14%, transparent)',
    boxShadow: 'inset 3px 0 0 var(--busy)',
  },
  '.cm-activeLineGutter': { backgroundColor: 'transparent', color: 'var(--text)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'color-mix(in srgb, var(--accent) 24%, transparent)',
  },
  '.cm-panels': { backgroundColor: 'var(--canvas)', color: 'var(--text)', borderColor: 'var(--border)' },
  '.cm-panels-bottom': { borderTop: '1px solid var(--border)' },
  '.cm-panels-top': { borderBottom: '1px solid var(--border)' },
  '.cm-panel.cm-search': {
    display: 'flex',
    flexWrap: 'wrap',
    alignItems: 'center',
    gap: '6px',
    padding: '6px 32px 6px 10px',
    fontFamily: 'var(--sans)',
    fontSize: '13px',
  },
  '.cm-panel.cm-search br': { flexBasis: '100%', content: '""', height: '0' },
  '.cm-panel.cm-search label': { display: 'inline-flex', alignItems: 'center', gap: '4px', fontSize: '12px' },
  '.cm-panel.cm-search [name=close]': { right: '8px', top: '8px', fontSize: '16px', cursor: 'pointer' },
  '.cm-textfield': {
    minHeight: '28px',
    padding: '0 8px',
    backgroundColor: 'var(--surface)',
    border: '1px solid var(--control)',
    borderRadius: '6px',
    color: 'inherit',
    fontSize: '13px',
  },
  '.cm-button': {
    minHeight: '28px',
    padding: '0 10px',
    backgroundImage: 'none',
    backgroundColor: 'var(--surface)',
    border: '1px solid var(--control)',
    borderRadius: '6px',
    color: 'var(--text)',
    fontSize: '13px',
    cursor: 'pointer',
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
  '.cm-symbol': { maxWidth: '620px', maxHeight: '240px', overflow: 'auto', padding: '6px 10px' },
  '.cm-symbol-type': {
    fontFamily: 'var(--mono)',
    fontSize: '12px',
    lineHeight: '18px',
    whiteSpace: 'pre-wrap',
    overflowWrap: 'anywhere',
  },
  '.cm-symbol-type b': { color: 'var(--accent)', fontWeight: '600' },
  '.cm-symbol-text': {
    color: 'var(--text-2)',
    fontFamily: 'var(--sans)',
    whiteSpace: 'pre-wrap',
    paddingTop: '4px',
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

export const colors = HighlightStyle.define([
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
