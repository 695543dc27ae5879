import type { PortOrders } from '@phalanx/automation';
import {
  maxMissedSearches,
  maxSourcePathLength,
  maxStageLength,
  maxVerdictActs,
  maxVerdictTextLength,
  maxVerdictWordsLength,
  type MissedSearch,
  type ReplayVerdict,
} from '@phalanx/protocol';

import { shortened } from '../../child/shortened.ts';
import type { SourcePositions } from '../../child/source-positions.ts';
import { notReplayed } from './phone-of-screen.ts';

type FollowUp = Extract<ReplayVerdict, { kind: 'state' }>['next'];

/** Notes on the replay of one screen, and its verdict. */
export class VerdictNotes {
  readonly missed: MissedSearch[] = [];
  /** Number of calls that changed the phone. */
  acts = 0;
  stored: { state: string; stage: string } | undefined;
  verdict: ReplayVerdict | undefined;
  readonly #did: string[] = [];
  readonly #positions: SourcePositions;

  constructor(positions: SourcePositions) {
    this.#positions = positions;
  }

  noteAct(words: string): void {
    this.acts += 1;
    if (this.#did.length < maxVerdictActs) this.#did.push(shortened(words, maxVerdictWordsLength));
  }

  noteMissed(by: string, wanted: string): void {
    const known = by === 'id' || by === 'text' ? by : 'conditions';
    const isNew = !this.missed.some((search) => search.by === known && search.wanted === wanted);
    if (isNew && this.missed.length < maxMissedSearches)
      this.missed.push({ by: known, wanted: shortened(wanted, maxVerdictWordsLength) });
  }

  store(state: string, stage: string): void {
    this.stored ??= { state: shortened(state, maxStageLength), stage: shortened(stage, maxStageLength) };
  }

  /** Sets the verdict. Later notes are ignored. */
  conclude(how: FollowUp | 'acts_blind' | 'ended', message: string | null = null): void {
    const did = this.#did;
    if (this.stored !== undefined && how !== 'acts_blind' && how !== 'ended')
      this.verdict ??= { kind: 'state', ...this.stored, next: how, did, message };
    else this.verdict ??= { kind: how === 'acts_blind' ? how : 'ended', did };
  }

  exceed(message: string): void {
    this.verdict ??= { kind: 'limit', message };
  }

  fail({ message, text, at }: PortOrders['uncaught']): void {
    const told = shortened(this.#positions.mapText(message), maxVerdictTextLength);
    if (this.stored !== undefined) return this.conclude('throws', told);
    if (message.includes(notReplayed)) this.verdict ??= { kind: 'cannot', message: told };
    else if (message.startsWith('WaitTimeoutError: '))
      this.verdict ??= { kind: 'waits', message: told.replace('WaitTimeoutError: ', ''), did: this.#did };
    else this.verdict ??= { kind: 'threw', message: told, ...this.#placeOf(text, at) };
  }

  #placeOf(
    text: string,
    at: string,
  ): Pick<Extract<ReplayVerdict, { kind: 'threw' }>, 'stack' | 'path' | 'line'> {
    const { path, lineNumber } = at === '' ? this.#positions.firstPlaceIn(text) : this.#positions.placeAt(at);
    const stack = text.includes('\n    at ')
      ? shortened(this.#positions.mapText(text).replace(/^Uncaught /, ''), maxVerdictTextLength)
      : null;
    return { stack, path: path === null ? null : path.slice(0, maxSourcePathLength), line: lineNumber };
  }
}
