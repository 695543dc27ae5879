import type { Confinement } from '@phalanx/confinement';
import type { HostQuestionOf, HostReplayAnswer, ReplaySequence } from '@phalanx/protocol';
import type { Logger } from 'pino';

import type { ServerConnection } from '../../connection/server-connection.ts';
import { openReplays, type Replays } from './replays.ts';

interface Options {
  connection: ServerConnection;
  confinement: Confinement;
  /** 0: this host replays nothing. */
  processes: number;
  log: Logger;
}

/** Replays saved screens for the server, one question at a time. */
export class ReplayAnswerer {
  readonly #options: Options;
  #replays: Promise<Replays> | undefined;
  #last: Promise<void> = Promise.resolve();

  constructor(options: Options) {
    this.#options = options;
  }

  get isWilling(): boolean {
    return this.#options.processes > 0;
  }

  /** Says what the code makes of the screens, or why it can't be known. */
  answer(question: HostQuestionOf<'replay'>): void {
    // What waited longer than its budget is asked again.
    const deadline = performance.now() + question.budget_ms;
    this.#last = this.#last.then(() => this.#answer(question, deadline));
  }

  async #answer(question: HostQuestionOf<'replay'>, deadline: number): Promise<void> {
    const { connection, log } = this.#options;
    const { type, request_id } = question;
    try {
      const answer = await this.#replay(question, deadline);
      connection.sendFrame({ type, request_id }, Buffer.from(JSON.stringify(answer)));
    } catch (error) {
      // What could not be opened is opened anew.
      this.#replays = undefined;
      log.warn({ err: error }, 'Saved screens could not be replayed');
      const message = (error instanceof Error ? error.message : String(error)).slice(0, 2000);
      connection.send({ type: 'request_failed', request_id, message });
    }
  }

  async #replay(question: HostQuestionOf<'replay'>, deadline: number): Promise<HostReplayAnswer> {
    if (!this.isWilling) throw new Error('This host replays no screens');
    if (performance.now() > deadline) return { verdicts: question.screens.map(() => null) };
    const { confinement, processes } = this.#options;
    this.#replays ??= openReplays({ confinement, processes });
    const { code, source_map: sourceMap, parameters, job_variables: jobVariables, fetches } = question;
    const replays = await this.#replays;
    const given = { code, sourceMap, arguments: { automationParameters: parameters, jobVariables }, fetches };
    if (question.sequence !== undefined) {
      const sequence = await replays.follow(given, sequenceOf(question.sequence));
      return { verdicts: [], sequence };
    }
    const replayed = await replays.replay(
      given,
      question.screens.map(({ tree_json: treeJson, stage }) => ({ treeJson, stage: stage ?? undefined })),
      { mode: 'strict', deadline },
    );
    return { verdicts: replayed.map((one) => one?.verdict ?? null) };
  }
}

const sequenceOf = ({
  screens,
  ends,
}: NonNullable<HostQuestionOf<'replay'>['sequence']>): ReplaySequence => ({
  screens: screens.map(({ tree_json: treeJson, ...screen }) => ({ treeJson, ...screen })),
  ends,
});
