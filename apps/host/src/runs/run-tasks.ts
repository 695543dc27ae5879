import { setTimeout as sleep } from 'node:timers/promises';
import {
  type AgentCallParams,
  RunTask,
  type RunTaskCall,
  runTaskRoutes,
  type TaskAnswer,
  type TaskCallName,
} from '@phalanx/protocol';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { v7 as uuidv7 } from 'uuid';

import type { CaptureServer } from '../records/outgoing/put-capture.ts';
import { createBackoff } from '../time/backoff.ts';
import type { RunSecrets } from './run-secrets.ts';

interface RunTasksOptions extends CaptureServer {
  runId: string;
  secrets: RunSecrets;
  /** Maximum duration of a run, in milliseconds. */
  timeoutMs: number;
}

type TaskCalls = {
  [Name in TaskCallName]: (params: AgentCallParams<Name>, signal: AbortSignal) => Promise<TaskAnswer>;
};

interface Attempt {
  readonly answer: TaskAnswer;
  /** Whether another try may be answered otherwise. */
  readonly isPassing: boolean;
}

/** Time for a server that is away to come back. */
const retryForMs = 60_000;
const requestMs = 15_000;
const done = Compile(Type.Object({ tasks: Type.Array(RunTask) }));
const refused = Compile(Type.Object({ message: Type.String() }));

/** Requests of one run's code to its job. Each call has its IDs from the beginning, so that it is done once. */
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

  async #ask(given: RunTaskCall, signal: AbortSignal): Promise<TaskAnswer> {
    const body = JSON.stringify(given);
    const backoff = createBackoff({ firstMs: 200, lastMs: 5000 });
    const end = performance.now() + retryForMs;
    for (;;) {
      const { answer, isPassing } = await this.#try(body, signal).catch((error: unknown) => {
        signal.throwIfAborted();
        return unanswered(error);
      });
      if (!isPassing || answer.success) return answer;
      if (performance.now() > end)
        return { success: false, error: `The server could not be asked: ${answer.error}` };
      await sleep(backoff.nextMs(), undefined, { signal });
    }
  }

  async #try(body: string, signal: AbortSignal): Promise<Attempt> {
    const { serverUrl, token, runId, timeoutMs } = this.#options;
    const path = runTaskRoutes.call.path.replace(':run_id', runId);
    const response = await fetch(`${serverUrl.origin}${serverUrl.pathname.replace(/\/+$/, '')}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body,
      redirect: 'manual',
      signal: AbortSignal.any([signal, AbortSignal.timeout(requestMs)]),
    });
    const reply: unknown = await response.json();
    if (response.ok && done.Check(reply))
      return { answer: { success: true, tasks: reply.tasks, timeoutMs }, isPassing: false };
    const error = refused.Check(reply) ? reply.message : `HTTP status ${response.status}`;
    return {
      answer: { success: false, error },
      isPassing: response.status >= 500 || response.status === 429,
    };
  }
}

const unanswered = (error: unknown): Attempt => ({
  answer: { success: false, error: error instanceof Error ? error.message : String(error) },
  isPassing: true,
});
