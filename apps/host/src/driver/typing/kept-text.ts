import { comparedText } from '@phalanx/automation/seen-text';

import type { FieldLook } from '../ui-backend.ts';

/**
 * Whether a field shows what was typed into it. An app may reformat the text: in capital letters, with the brackets and
 * spaces of a telephone number, or with the separators of an amount. For a password, phones report only the number of
 * dots, and some report nothing.
 */
export function isKept(text: string, after: FieldLook, before?: FieldLook): boolean {
  if (after.isPassword) return after.shown === '' || countOf(after.shown) >= countOf(text);
  const typed = comparedText(text);
  if (typed === '') return true;
  if (after.shown === before?.shown) return false;
  const shown = comparedText(after.shown);
  return shown.includes(typed) || isInOwnForm(shown, typed);
}

/** Whether boxes of one character hold what was typed. */
export function isKeptInBoxes(text: string, boxes: readonly FieldLook[]): boolean {
  const shown = boxes.map((box) => box.shown).join('');
  return isKept(text, { isPassword: boxes.some(({ isPassword }) => isPassword), shown });
}

/** Returns the part of a text that boxes of one character do not hold yet. */
export function restForBoxes(text: string, boxes: readonly FieldLook[]): string {
  const filled = boxes.filter(({ shown }) => shown !== '').length;
  return [...text].slice(filled).join('');
}

function isInOwnForm(shown: string, typed: string): boolean {
  const core = coreOf(typed);
  return core === '' || coreOf(shown).includes(core);
}

const coreOf = (text: string): string => text.replaceAll(/[^\p{L}\p{N}]/gu, '');

const countOf = (text: string): number => [...text].length;
