import { comparedText } from '@phalanx/automation/seen-text';

import type { FieldLook } from '../ui-backend.ts';

/**
 * Whether a field shows what was typed into it. An app may write it in its own form: in capital letters, with the brackets and
 * spaces of a telephone number, or with the marks of a sum. Of a password only the number of dots is told, and by some phones nothing.
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

/** The part of a text that boxes of one character do not have yet. */
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
