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

/** Time budget of a host for the screens of one question, ms. It is shorter than the timeout of the question. */
const budgetMs = 8000;
/** Timeout of a replay that waits for a disconnected or busy host, ms. */
const timeoutMs = 60_000;
/** Interval at which a replay looks for a connected host that has time, ms. */
const lookEveryMs = 500;
/** Maximum number of attempts of a single screen, or of a sequence, before it is blamed. */
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

/** Replays screens on the hosts of certain users. */
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
   * Returns the verdict of the code on each screen. Rejects with `NoReplayHost` when no host has replayed a screen
   * within the timeout. Calls `goesOn` after each question; when it returns false, the remaining screens have no
   * verdict.
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

  /**
   * Replays the screens of one record in order. Returns null when `goesOn` returns false. Rejects with `NoReplayHost`
   * after the timeout.
   */
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

  /**
   * Asks the next host. Returns `failed` when the host did not answer but is still connected, and `absent` when there
   * is no host.
   */
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
      // A disconnected host is not the screens' fault. Another server may still list it for a moment.
      if (isUnreachable(error)) return 'absent';
      return (await this.#hosts.known.listReplaying(ownerIds)).includes(epoch) ? 'failed' : 'absent';
    }
  }
}

const pick = (screens: readonly HostScreen[], indices: readonly number[]): HostScreen[] =>
  indices.flatMap((index) => screens[index] ?? []);

const hung = { kind: 'limit' as const, message: 'took too long: no host had an answer in time' };
