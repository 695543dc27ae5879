import type { PortOrders } from '@phalanx/automation';
import type { AgentCallParams } from '@phalanx/protocol';

import { answerCall, changesPhone, wordsOfCall, type ShownScreen } from './phone-of-screen.ts';
import type { CallAnswer, Player, VirtualClock } from './play-run.ts';
import type { VerdictNotes } from './verdict-notes.ts';

/** Maximum number of calls that change the phone by code that has stored no screen. */
const maxBlindActs = 200;

/** Maximum virtual time in milliseconds that one reading charges to a wait, so that waits of 30 s read 25 times. */
const readingMs = 1000;

/** Maximum number of readings without a call after the screen was stored. */
const maxIdleReadings = 200;

export const submitted: CallAnswer = {
  ok: true,
  value: { success: true, id: '00000000-0000-0000-0000-000000000000' },
};

/** Whether `agent.utils.debug` has stored the screen, which is no verdict. */
export const isDebug = ({ stage, screenState }: AgentCallParams<'record.screen'>): boolean =>
  stage === 'debug' && screenState === 'unknown';

/** Shows one screen forever. Done when the code's verdict on it is clear. */
export class SingleScreen implements Player {
  readonly missed: Player['missed'];
  readonly #screen: ShownScreen;
  readonly #notes: VerdictNotes;
  #readings = 0;
  #idleReadings = 0;

  constructor(screen: ShownScreen, notes: VerdictNotes, tellsMissed: boolean) {
    this.#screen = screen;
    this.#notes = notes;
    this.missed = tellsMissed
      ? (by, wanted) => {
          if (notes.stored === undefined) notes.noteMissed(by, wanted);
        }
      : undefined;
  }

  get isDone(): boolean {
    return this.#notes.verdict !== undefined;
  }

  capturedAt = (): number => this.#screen.tree.capturedAt;
  stage = (): string => this.#screen.stage;
  uncaught = (error: PortOrders['uncaught']): void => this.#notes.fail(error);
  exceeded = (message: string): void => this.#notes.exceed(message);
  ended = (): void => this.#notes.conclude(this.#notes.stored === undefined ? 'ended' : 'ends');

  answer(name: string, params: unknown, clock: VirtualClock): CallAnswer {
    if (name === 'screen.content') return this.#read(clock);
    if (name === 'record.screen') return this.#store(params);
    if (name === 'record.submit') {
      if (this.#notes.stored !== undefined) this.#notes.conclude('gives_up');
      return submitted;
    }
    if (name === 'run.arrived') {
      if (this.#notes.stored !== undefined) this.#notes.conclude('arrives');
      return { ok: true };
    }
    const answer = answerCall(name, params, this.#screen);
    if (changesPhone(name)) this.#act(wordsOfCall(name, params, this.#screen));
    return answer;
  }

  #read(clock: VirtualClock): CallAnswer {
    if (this.#readings > 0) clock.now += readingMs;
    this.#readings += 1;
    if (this.#notes.stored !== undefined && ++this.#idleReadings > maxIdleReadings)
      this.#notes.conclude('waits');
    return { json: `{"ok":true,"value":${this.#screen.jsonAs(1)}}` };
  }

  #store(params: unknown): CallAnswer {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- from the prelude; user code harms only its replay
    const stored = params as AgentCallParams<'record.screen'>;
    if (!isDebug(stored)) {
      if (this.#notes.stored === undefined) this.#notes.store(stored.screenState, stored.stage);
      else this.#notes.conclude('waits');
    }
    return { ok: true, value: 'stored' };
  }

  #act(words: string): void {
    this.#notes.noteAct(words);
    if (this.#notes.stored !== undefined) this.#notes.conclude('acts');
    else if (this.#notes.acts >= maxBlindActs) this.#notes.conclude('acts_blind');
  }
}

/** Maximum number of readings of a screen that the code does not store. Then the next screen follows. */
const maxReadings = 30;

/**
 * Shows several screens to one run. The next one follows once the code has stored the current one and acted, or has
 * stored it again. A screen on which anything else happens gets no verdict.
 */
export class ScreenStream implements Player {
  readonly missed = undefined;
  isDone = false;
  /** Index of the screen that the phone shows. */
  index: number;
  readonly #screens: readonly ShownScreen[];
  readonly #notesOf: (index: number) => VerdictNotes;
  #notes: VerdictNotes;
  #readings = 0;

  constructor(screens: readonly ShownScreen[], start: number, notesOf: (index: number) => VerdictNotes) {
    this.#screens = screens;
    this.index = start;
    this.#notesOf = notesOf;
    this.#notes = notesOf(start);
  }

  capturedAt = (): number => this.#screen?.tree.capturedAt ?? 0;
  stage = (): string => this.#screen?.stage ?? '';
  uncaught = (): void => this.#end();
  exceeded = (): void => this.#end();
  ended = (): void => this.#end();

  answer(name: string, params: unknown): CallAnswer {
    if (name === 'screen.content') return this.#read();
    if (name === 'record.screen') return this.#store(params);
    if (name === 'record.submit') return submitted;
    const screen = this.#screen;
    if (name === 'run.arrived') this.#conclude('arrives');
    if (screen === undefined || name === 'run.arrived') return { ok: true };
    if (changesPhone(name)) {
      this.#notes.noteAct(wordsOfCall(name, params, screen));
      this.#conclude('acts');
    }
    return answerCall(name, params, screen);
  }

  get #screen(): ShownScreen | undefined {
    return this.#screens[this.index];
  }

  #read(): CallAnswer {
    if (this.#notes.verdict !== undefined || ++this.#readings > maxReadings) this.#next();
    const screen = this.#screen;
    // The run is over, so this answer is never read.
    if (screen === undefined) return { ok: true };
    return { json: `{"ok":true,"value":${screen.jsonAs(this.index + 1)}}` };
  }

  #store(params: unknown): CallAnswer {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- from the prelude; user code harms only its replay
    const stored = params as AgentCallParams<'record.screen'>;
    if (stored.treeId === this.index + 1 && !isDebug(stored)) {
      this.#conclude('waits');
      this.#notes.store(stored.screenState, stored.stage);
    }
    return { ok: true, value: 'stored' };
  }

  #conclude(how: 'acts' | 'waits' | 'arrives'): void {
    if (this.#notes.stored !== undefined) this.#notes.conclude(how);
  }

  #next(): void {
    this.index += 1;
    this.#readings = 1;
    if (this.#screen === undefined) this.isDone = true;
    else this.#notes = this.#notesOf(this.index);
  }

  /** Ends the stream. The current screen needs a separate replay. */
  #end(): void {
    this.isDone = true;
    this.index += 1;
  }
}
