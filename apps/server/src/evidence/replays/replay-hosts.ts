import { setTimeout as pause } from 'node:timers/promises';
import {
  HostReplayAnswer,
  type HostQuestionOf,
  type ReplayVerdict,
  type SequenceResult,
} from '@phalanx/protocol';
import { Compile } from 'typebox/compile';
import { readAnswer } from '../../fleet/devices/ask-host.ts';
import type { Hosts } from '../../fleet/hosts/feature.ts';
import { isUnreachable } from '../../fleet/hosts/host-requests.ts';

const answers = Compile(HostReplayAnswer);

/** Time limit of a host for the screens of one question; it answers in time for the question. */
const budgetMs = 8000;
/** How long a replay waits for a host that is gone, or has no time. */
const timeoutMs = 60_000;
/** Interval of the looks for a host that is there and has time. */
const lookEveryMs = 500;
/** Tries of a screen by itself, or of a sequence, before it is blamed. */
const maxTries = 2;

export type HostCode = Pick<
  HostQuestionOf<'replay'>,
  'code' | 'source_map' | 'parameters' | 'job_variables' | 'fetches'
>;
export type HostSequence = NonNullable<HostQuestionOf<'replay'>['sequence']>;
export type HostScreen = HostQuestionOf<'replay'>['screens'][number];

export class NoReplayHost extends Error {
  override readonly name = 'NoReplayHost';
}

interface AskedHosts {
  readonly connected: Pick<Hosts['connected'], 'ask'>;
  readonly known: Pick<Hosts['known'], 'listReplaying'>;
}

/** Has screens replayed by hosts of certain users. */
export class ReplayHosts {
  readonly #hosts: AskedHosts;
  #turn = 0;

  constructor(hosts: AskedHosts) {
    this.#hosts = hosts;
  }

  async isThere(ownerIds: readonly string[]): Promise<boolean> {
    return (await this.#hosts.known.listReplaying(ownerIds)).length > 0;
  }

  /**
   * Finds what the code makes of each screen. Rejects with `NoReplayHost` when no host has done any for some time.
   * `goesOn` is asked whenever time has passed; when it says no, the screens that are left have no verdict.
   */
  async replay(
    ownerIds: readonly string[],
    { code, screens }: { code: HostCode; screens: readonly HostScreen[] },
    goesOn: () => Promise<boolean>,
  ): Promise<(ReplayVerdict | null)[]> {
    const verdicts: (ReplayVerdict | null)[] = screens.map(() => null);
    let open = [...screens.keys()];
    let tries = 0;
    let maxScreens = open.length;
    for (let waitedSince = performance.now(); open.length > 0;) {
      const asked = open.slice(0, maxScreens);
      const answer = await this.#ask(ownerIds, { ...code, screens: pick(screens, asked) });
      const answered = typeof answer === 'string' ? answer : answer.verdicts;
      if (answered === 'failed' && asked.length === 1) tries += 1;
      if (answered === 'failed') maxScreens = 1;
      if (Array.isArray(answered))
        for (const [at, index] of asked.entries()) verdicts[index] = answered[at] ?? null;
      if (tries >= maxTries) verdicts[asked[0] ?? 0] = hung;
      const left = open.filter((index) => verdicts[index] === null);
      if (left.length < open.length) {
        waitedSince = performance.now();
        tries = 0;
        if (Array.isArray(answered)) maxScreens = screens.length;
      } else if (performance.now() - waitedSince > timeoutMs) throw new NoReplayHost();
      else if (answered !== 'failed') await pause(lookEveryMs);
      open = left;
      if (open.length > 0 && !(await goesOn())) break;
    }
    return verdicts;
  }

  /** The same for the screens of one record in their order. Null: it does not go on. */
  async follow(
    ownerIds: readonly string[],
    { code, sequence }: { code: HostCode; sequence: HostSequence },
    goesOn: () => Promise<boolean>,
  ): Promise<SequenceResult | null> {
    let tries = 0;
    for (const waitsSince = performance.now(); ;) {
      const answer = await this.#ask(ownerIds, { ...code, screens: [], sequence });
      if (typeof answer !== 'string' && answer.sequence) return answer.sequence;
      if (answer === 'failed' && ++tries >= maxTries) return { ...hung, index: 0 };
      if (performance.now() - waitsSince > timeoutMs) throw new NoReplayHost();
      if (!(await goesOn())) return null;
      await pause(lookEveryMs);
    }
  }

  /** `failed`: a host that is still there has said nothing. */
  async #ask(
    ownerIds: readonly string[],
    given: HostCode & Pick<HostQuestionOf<'replay'>, 'screens' | 'sequence'>,
  ): Promise<HostReplayAnswer | 'failed' | 'absent'> {
    const epochs = await this.#hosts.known.listReplaying(ownerIds);
    this.#turn += 1;
    const epoch = epochs[this.#turn % epochs.length];
    if (epoch === undefined) return 'absent';
    const question = { type: 'replay' as const, serial: '', ...given, budget_ms: budgetMs };
    try {
      return readAnswer(await this.#hosts.connected.ask(epoch, question), answers);
    } catch (error) {
      // A host that went away is not the screens' fault. Another server may list it for a moment after that.
      if (isUnreachable(error)) return 'absent';
      return (await this.#hosts.known.listReplaying(ownerIds)).includes(epoch) ? 'failed' : 'absent';
    }
  }
}

const pick = (screens: readonly HostScreen[], indices: readonly number[]): HostScreen[] =>
  indices.flatMap((index) => screens[index] ?? []);

const hung = { kind: 'limit' as const, message: 'took too long: no host had an answer in time' };
