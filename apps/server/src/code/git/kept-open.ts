import type { GitProgram } from './git-process.ts';
import { type Reading, BatchProcessEnded, type BatchCommand, BatchProcess } from './batch-process.ts';

/** Long-running command, started at its first use and restarted after it has died. */
export class KeptOpen {
  readonly #git: GitProgram;
  readonly #command: BatchCommand;
  #process: BatchProcess | undefined;

  constructor(git: GitProgram, command: BatchCommand) {
    this.#git = git;
    this.#command = command;
  }

  /** Sends an idempotent request. Retries it once if the process ends without a reply. */
  async request<Reply>(input: string | Buffer, read: () => Reading<Reply>): Promise<Reply> {
    try {
      return await this.requestOnce(input, read);
    } catch (error) {
      if (!(error instanceof BatchProcessEnded)) throw error;
      return this.requestOnce(input, read);
    }
  }

  async requestOnce<Reply>(input: string | Buffer, read: () => Reading<Reply>): Promise<Reply> {
    if (this.#process === undefined || this.#process.hasEnded)
      this.#process = new BatchProcess(this.#git, this.#command);
    return this.#process.request(input, read);
  }

  async close(): Promise<void> {
    await this.#process?.close();
  }

  kill(): void {
    this.#process?.kill();
  }
}
