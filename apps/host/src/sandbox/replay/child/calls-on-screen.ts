import { maxRecordedCalls, type RecordedCall } from '@phalanx/protocol';

import { changesPhone } from './phone-of-screen.ts';
import type { ShownScreen } from './shown-screen.ts';

/** A call as it is compared and told: what it was, and what it acted on. */
interface CallNote {
  name: string;
  /** The touched node in words, or the app; null: not known. */
  target: string | null;
}

/** What the code does on one screen. Records say nothing of password fields, so calls on them are left out here, too. */
export class CallsOnScreen {
  readonly notes: CallNote[] = [];
  #isAtPassword: boolean;

  constructor(screen: ShownScreen) {
    this.#isAtPassword = screen.hasPasswordFocus;
  }

  note(name: string, params: unknown, screen: ShownScreen): void {
    const given = typeof params === 'object' && params !== null ? params : {};
    const point = pointOf(given);
    if (point !== undefined) this.#isAtPassword = screen.isPasswordAt(point.x, point.y);
    if (this.#isAtPassword && (point !== undefined || toField.test(name))) return;
    const app = 'packageName' in given ? String(given.packageName) : null;
    this.notes.push({ name, target: point === undefined ? app : screen.wordsAt(point.x, point.y) });
  }

  /** A record has the first ones of many. */
  areThoseOf(saved: readonly RecordedCall[], screen: ShownScreen): boolean {
    const known = notesOf(saved, screen);
    const isCut = saved.length >= maxRecordedCalls;
    if (isCut ? this.notes.length < known.length : this.notes.length !== known.length) return false;
    return known.every((note, at) => isSame(note, this.notes[at]));
  }
}

/** The calls of a record as those of a replay. */
export const notesOf = (saved: readonly RecordedCall[], screen: ShownScreen): CallNote[] =>
  saved
    .filter(({ name }) => changesPhone(name))
    .map(({ name, x, y, package: app = null }) => ({
      name,
      target: x === undefined || y === undefined ? app : screen.wordsAt(x, y),
    }));

export const wordsOf = (notes: readonly CallNote[]): string[] =>
  notes.map(({ name, target }) => (target === null ? name : `${name} on ${target}`));

const toField = /^(?:input\.(?:text|clearText|key)|secret\.type)$/;

function isSame(saved: CallNote, now: CallNote | undefined): boolean {
  return now?.name === saved.name && (saved.target === null || now.target === saved.target);
}

function pointOf(given: object): { x: number; y: number } | undefined {
  if ('ways' in given && Array.isArray(given.ways)) {
    const first: unknown = given.ways.at(0);
    return typeof first === 'object' && first !== null ? pointOf(first) : undefined;
  }
  if ('x' in given && 'y' in given) return { x: Number(given.x), y: Number(given.y) };
  if ('fromX' in given && 'fromY' in given) return { x: Number(given.fromX), y: Number(given.fromY) };
  return undefined;
}
