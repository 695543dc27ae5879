import { errorText } from '@phalanx/settings';
import type { ApiClient } from '@phalanx/client/api-client';
import { isPassing } from '@phalanx/client/retry';
import {
  type AgentCallParams,
  type RunTaskCall,
  runTaskRoutes,
  type TaskAnswer,
  type TaskCallName,
} from '@phalanx/protocol';
import { v7 as uuidv7 } from 'uuid';

import type { RunSecrets } from './run-secrets.ts';

interface RunTasksOptions {
  server: ApiClient;
  runId: string;
  secrets: RunSecrets;
  /** Maximum duration of a run, in milliseconds. */
  timeoutMs: number;
}

type TaskCalls = {
  [Name in TaskCallName]: (params: AgentCallParams<Name>, signal: AbortSignal) => Promise<TaskAnswer>;
};

/** Time for an unreachable server to come back, in milliseconds. */
const retryForMs = 60_000;
const requestMs = 15_000;

/** Requests from the code of one run to its job. Each call gets its IDs in advance, so that retries are idempotent. */
export class RunTasks {
  readonly #options: RunTasksOptions;
  #currentId: string | undefined;

  constructor(options: RunTasksOptions) {
    this.#options = options;
  }

  readonly calls: TaskCalls = {
    'task.current': (_, signal) => this.#current(signal),
    'task.next': async (_, signal) => {
      const after = await this.#knownCurrent(signal);
      if (after === undefined) return this.#none();
      return this.#noteCurrent(await this.#ask({ call: 'next', after }, signal));
    },
    'task.submit': async ({ status, isFinal, data }, signal) => {
      const { secrets } = this.#options;
      const taskId = await this.#knownCurrent(signal);
      if (taskId === undefined) return this.#none();
      const told = { task_id: taskId, status, is_final: isFinal, data: secrets.redactJson(data) };
      return this.#ask({ call: 'submit', ...told }, signal);
    },
    'task.add': ({ jobId, inputs }, signal) => {
      const { secrets } = this.#options;
      const tasks = inputs.map((input) => ({ id: uuidv7(), input: secrets.redactJson(input) }));
      return this.#ask({ call: 'add', ...(jobId !== undefined && { job_id: jobId }), tasks }, signal);
    },
    'task.list': ({ ids }, signal) => this.#ask({ call: 'list', ids }, signal),
    'task.submitElsewhere': ({ jobId, isSuccess, data }, signal) => {
      const shown = this.#options.secrets.redactJson(data);
      const about = { job_id: jobId, id: uuidv7(), is_success: isSuccess, data: shown };
      return this.#ask({ call: 'submit_elsewhere', ...about }, signal);
    },
  };

  #none(): TaskAnswer {
    return { success: true, tasks: [], timeoutMs: this.#options.timeoutMs };
  }

  async #current(signal: AbortSignal): Promise<TaskAnswer> {
    return this.#noteCurrent(await this.#ask({ call: 'current' }, signal));
  }

  #noteCurrent(answer: TaskAnswer): TaskAnswer {
    if (answer.success) this.#currentId = answer.tasks[0]?.id ?? this.#currentId;
    return answer;
  }

  async #knownCurrent(signal: AbortSignal): Promise<string | undefined> {
    if (this.#currentId === undefined) {
      const answer = await this.#current(signal);
      if (!answer.success) throw new Error(answer.error);
    }
    return this.#currentId;
  }

  async #ask(body: RunTaskCall, signal: AbortSignal): Promise<TaskAnswer> {
    const { server, runId, timeoutMs } = this.#options;
    const input = { params: { run_id: runId }, body };
    const options = { signal, timeoutMs: requestMs, retryForMs, isIdempotent: true };
    try {
      const { tasks } = await server.call(runTaskRoutes.call, input, options);
      return { success: true, tasks, timeoutMs };
    } catch (error) {
      signal.throwIfAborted();
      return {
        success: false,
        error: isPassing(error) ? `The server could not be asked: ${errorText(error)}` : errorText(error),
      };
    }
  }
}
