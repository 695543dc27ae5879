import type { PortOrders } from '@phalanx/automation';
import {
  type AgentCallParams,
  maxRecordScreens,
  maxSequenceCalls,
  maxSourcePathLength,
  maxStageLength,
  maxVerdictTextLength,
  maxVerdictWordsLength,
  type ReplaySequence,
  type SequenceMoment,
  type SequenceResult,
  maxRecordedCalls,
  type RecordedCall,
} from '@phalanx/protocol';
import { shortened } from '../../child/shortened.ts';
import type { SourcePositions } from '../../child/source-positions.ts';
import { hourMs } from '@phalanx/timing/durations';
import { answerCall, changesPhone, notReplayed, ShownScreen } from './phone-of-screen.ts';
import type { CallAnswer, Player, VirtualClock } from './play-run.ts';
import { isDebug, submitted } from './single-screen.ts';

/** Virtual duration in milliseconds of one reading of an unchanged screen, as in a replay of one screen. */
const readingMs = 1000;
/** Number of readings without a call after which a screen counts as changed by itself. */
const maxIdleReadings = 3;
/** Maximum number of readings of the last screen. Then the code waits for another screen. */
const maxLastReadings = 200;

const toField = /^(?:input\.(?:text|clearText|key)|secret\.type)$/;

/**
 * Plays the screens of one record in order. The next screen follows the recorded calls on the current one; without
 * recorded calls, it follows once the code has stored the current one. Ends at the first difference, or at the end of
 * the record.
 */
export class Sequence implements Player {
  readonly missed = undefined;
  result: SequenceResult | undefined;
  readonly #given: ReplaySequence;
  readonly #screens: readonly ShownScreen[];
  readonly #positions: SourcePositions;
  readonly #last: number;
  /** Whether the record contains the calls between its screens. */
  readonly #knowsCalls: boolean;
  /** Index of the screen that the phone shows. */
  #index = 0;
  /** Index of the screen that was stored last; -1 before the first. */
  #stored = -1;
  #calls: CallsOnScreen;
  /** Number of readings since the screen appeared, was stored, or got a call. */
  #readings = 0;

  constructor(given: ReplaySequence, positions: SourcePositions) {
    this.#given = given;
    this.#screens = given.screens.map((screen) => new ShownScreen(screen));
    this.#positions = positions;
    this.#last = given.screens.length - 1;
    this.#knowsCalls = given.screens.some(({ calls }) => calls.length > 0);
    this.#calls = new CallsOnScreen(this.#screenAt(0));
  }

  /** Limit of the run's virtual clock: the duration of the recorded run plus one hour. */
  get virtualMs(): number {
    const tookMs = this.#screenAt(this.#last).tree.capturedAt - this.capturedAt();
    return hourMs + (Number.isFinite(tookMs) ? Math.max(0, tookMs) : 0);
  }

  get isDone(): boolean {
    return this.result !== undefined;
  }

  /** Time of the first screen. The clock adds the time between it and the current screen. */
  capturedAt = (): number => this.#screenAt(0).tree.capturedAt;

  /**
   * Stage of the first screen when the record begins in the middle of the run; otherwise the code determines it itself.
   */
  stage = (): string | null =>
    this.#stored < 0 && this.#screens.length >= maxRecordScreens ? this.#screenAt(0).stage : null;

  answer(name: string, params: unknown, clock: VirtualClock): CallAnswer {
    if (name === 'screen.content') return this.#read(clock);
    if (name === 'record.screen') return this.#store(params);
    if (name === 'record.submit') {
      this.#end('submits');
      return submitted;
    }
    if (name === 'run.arrived') {
      this.#end('arrives');
      return { ok: true };
    }
    const screen = this.#screenAt(this.#index);
    if (changesPhone(name)) {
      this.#calls.note(name, params, screen);
      this.#readings = 0;
    }
    return answerCall(name, params, screen);
  }

  ended = (): void => this.#end('ends');
  exceeded = (message: string): void => this.#conclude({ kind: 'limit', index: this.#place, message });

  uncaught({ message, text, at }: PortOrders['uncaught']): void {
    const index = this.#place;
    const told = shortened(this.#positions.mapText(message), maxVerdictTextLength);
    if (message.includes(notReplayed)) this.#conclude({ kind: 'cannot', index, message: told });
    else if (this.#given.ends === 'throws' && this.#stored === this.#last) this.#end('throws');
    else if (message.startsWith('WaitTimeoutError: '))
      this.#conclude({ kind: 'waits', index, message: told.replace('WaitTimeoutError: ', '') });
    else {
      const place = at === '' ? this.#positions.firstPlaceIn(text) : this.#positions.placeAt(at);
      const path = place.path === null ? null : place.path.slice(0, maxSourcePathLength);
      this.#conclude({ kind: 'threw', index, message: told, path, line: place.lineNumber });
    }
  }

  /** Index of the screen at which the code is, for reports. */
  get #place(): number {
    return Math.max(0, this.#stored);
  }

  #screenAt(index: number): ShownScreen {
    const screen = this.#screens[index];
    if (screen === undefined) throw new Error('a sequence has screens');
    return screen;
  }

  #conclude(result: SequenceResult): void {
    this.result ??= result;
  }

  #read(clock: VirtualClock): CallAnswer {
    if (this.#isOver()) this.#next(clock);
    else if (this.#readings > 0) clock.now += readingMs;
    this.#readings += 1;
    if (this.#stored === this.#last) this.#lookAgain();
    return { json: `{"ok":true,"value":${this.#screenAt(this.#index).jsonAs(this.#index + 1)}}` };
  }

  /** Whether the phone shows the next screen at the next reading. */
  #isOver(): boolean {
    if (this.#index >= this.#last || this.#stored < this.#index) return false;
    const saved = this.#notesAt(this.#index).length;
    if (!this.#knowsCalls || saved === 0) return true;
    return this.#calls.notes.length >= saved || this.#readings > maxIdleReadings;
  }

  #next(clock: VirtualClock): void {
    this.#index += 1;
    this.#readings = 0;
    const since = this.#screenAt(this.#index).tree.capturedAt - this.capturedAt();
    if (Number.isFinite(since)) clock.now = Math.max(clock.now, since);
  }

  /** Ends the comparison once the code has acted on the last screen, or waits there: the next screen is unknown. */
  #lookAgain(): void {
    if (this.#calls.notes.length > 0 || this.#readings > maxLastReadings) this.#end(null);
  }

  #store(params: unknown): CallAnswer {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- from the prelude; user code harms only its replay
    const stored = params as AgentCallParams<'record.screen'>;
    if (!isDebug(stored)) this.#compare(stored);
    return { ok: true, value: 'stored' };
  }

  #compare({ stage, screenState }: AgentCallParams<'record.screen'>): void {
    // A reading that is stored twice is in the record twice.
    if (this.#stored === this.#index && this.#readings === 0 && this.#index < this.#last) this.#index += 1;
    if (this.#stored === this.#last) return this.#end(null);
    if (this.#stored === this.#index || !this.#didTheSame()) return this.#differs('calls', null);
    this.#stored = this.#index;
    this.#readings = 0;
    this.#calls = new CallsOnScreen(this.#screenAt(this.#index));
    const now = { stage: shortened(stage, maxStageLength), state: shortened(screenState, maxStageLength) };
    const saved = this.#savedMoment();
    if (saved.stage === now.stage && saved.state === now.state) return;
    const moment = { ...now, calls: [], ends: null };
    this.#conclude({ kind: 'diverges', index: this.#stored, in: 'screen', saved, now: moment });
  }

  /** Whether the code made the recorded calls on the screen that was stored last. */
  #didTheSame(): boolean {
    if (!this.#knowsCalls || this.#stored < 0) return true;
    const { calls = [] } = this.#given.screens[this.#stored] ?? {};
    return this.#calls.areThoseOf(calls, this.#screenAt(this.#stored));
  }

  /** Ends the run, or only its comparable part (`null`). */
  #end(how: SequenceMoment['ends']): void {
    if (this.#stored < this.#last) {
      if (how !== null) this.#conclude({ kind: 'ended', index: this.#place, how });
      return;
    }
    const { ends } = this.#given;
    const isUnknown = ends === null || (ends === 'throws' && how === null);
    if (isUnknown || (ends === how && this.#didTheSame()))
      this.#conclude({ kind: 'same', screens: this.#screens.length });
    else this.#differs(ends === how ? 'calls' : 'end', how);
  }

  #differs(what: 'calls' | 'end', ends: SequenceMoment['ends']): void {
    const saved = this.#savedMoment();
    const calls = tellable(wordsOf(this.#calls.notes));
    const now = { stage: saved.stage, state: saved.state, calls, ends };
    this.#conclude({ kind: 'diverges', index: this.#place, in: what, saved, now });
  }

  #notesAt(index: number): ReturnType<typeof notesOf> {
    return notesOf(this.#given.screens[index]?.calls ?? [], this.#screenAt(index));
  }

  #savedMoment(): SequenceMoment {
    const { stage = '', state = '' } = this.#given.screens[this.#place] ?? {};
    const calls = tellable(wordsOf(this.#notesAt(this.#place)));
    return { stage, state, calls, ends: this.#place === this.#last ? this.#given.ends : null };
  }
}

const tellable = (words: readonly string[]): string[] =>
  words.slice(0, maxSequenceCalls).map((one) => shortened(one, maxVerdictWordsLength));

/** Call for comparisons and reports: its name, and the target of its action. */
interface CallNote {
  name: string;
  /** Touched node in words, or the app; null when unknown. */
  target: string | null;
}

/** Calls of the code on one screen. Records omit calls on password fields, so they are omitted here too. */
class CallsOnScreen {
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

  /** Whether the calls equal the recorded ones. A record contains only the first of many calls. */
  areThoseOf(saved: readonly RecordedCall[], screen: ShownScreen): boolean {
    const known = notesOf(saved, screen);
    const isCut = saved.length >= maxRecordedCalls;
    if (isCut ? this.notes.length < known.length : this.notes.length !== known.length) return false;
    return known.every((note, at) => isSame(note, this.notes[at]));
  }
}

/** Converts the calls of a record to those of a replay. */
const notesOf = (saved: readonly RecordedCall[], screen: ShownScreen): CallNote[] =>
  saved
    .filter(({ name }) => changesPhone(name))
    .map(({ name, x, y, package: app = null }) => ({
      name,
      target: x === undefined || y === undefined ? app : screen.wordsAt(x, y),
    }));

const wordsOf = (notes: readonly CallNote[]): string[] =>
  notes.map(({ name, target }) => (target === null ? name : `${name} on ${target}`));

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
