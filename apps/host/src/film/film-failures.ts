import { errorText } from '@phalanx/settings';
import type { Logger } from 'pino';

/**
 * Logs the failures of one film. A black screen and a phone that is briefly away are common, so only the first is
 * logged.
 */
export class FilmFailures {
  readonly #log: Logger;
  readonly #runId: string;
  #hasFailed = false;

  constructor(log: Logger, runId: string) {
    this.#log = log;
    this.#runId = runId;
  }

  note(error: unknown): void {
    if (this.#hasFailed) return;
    this.#hasFailed = true;
    const reason = errorText(error);
    this.#log.info({ runId: this.#runId, reason }, 'A part of a film could not be taken');
  }
}
