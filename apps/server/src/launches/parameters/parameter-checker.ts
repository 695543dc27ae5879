import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

import { ApiError } from '../../http/api-error.ts';
import type { Turns } from '../../limits/turns.ts';
import type { ParameterAnswer, ParameterQuestion } from './parameter-messages.ts';

/** In the project. */
export const parametersSchemaPath = 'parameters.schema.json';

const timeoutMs = 5000;
const memoryMb = 64;
type Parameters = Record<string, unknown>;

function startWorker(): Worker {
  const worker = new Worker(new URL('parameter-worker.ts', import.meta.url), {
    resourceLimits: { maxOldGenerationSizeMb: memoryMb },
  });
  worker.unref();
  return worker;
}

/** Rejects when the thread takes too long, or dies of the schema. */
async function ask(worker: Worker, question: ParameterQuestion): Promise<ParameterAnswer> {
  worker.postMessage(question);
  const said: unknown[] = await once(worker, 'message', { signal: AbortSignal.timeout(timeoutMs) });
  // The worker is ours, and says nothing else.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return said[0] as ParameterAnswer;
}

/** Checks the parameters of launches against the schemas of their projects. */
export class ParameterChecker {
  readonly #idle: Worker[] = [];
  readonly #turns: Turns;

  constructor(turns: Turns) {
    this.#turns = turns;
  }

  /** The parameters with the defaults of the schema. Throws `invalid_parameters` or `invalid_parameter_schema`. */
  async check(schema: string, parameters: Parameters, userId: string): Promise<Parameters> {
    const answer = await this.#answer({ schema, parameters }, userId);
    if ('schemaProblem' in answer) {
      throw ApiError.of('invalid_parameter_schema', { problem: answer.schemaProblem });
    }
    if ('reasons' in answer) throw ApiError.of('invalid_parameters', { reasons: answer.reasons.join('; ') });
    return answer.parameters;
  }

  /** Why `schema` can't be used. */
  async findSchemaProblem(schema: string, userId = ''): Promise<string | undefined> {
    const answer = await this.#answer({ schema, parameters: null }, userId);
    return 'schemaProblem' in answer ? answer.schemaProblem : undefined;
  }

  async close(): Promise<void> {
    await Promise.all(this.#idle.splice(0).map((worker) => worker.terminate()));
  }

  /** A schema that takes its time keeps nobody else waiting: users take turns. */
  #answer(question: ParameterQuestion, userId: string): Promise<ParameterAnswer> {
    return this.#turns.run(userId, async () => {
      const worker = this.#idle.pop() ?? startWorker();
      try {
        const answer = await ask(worker, question);
        this.#idle.push(worker);
        return answer;
      } catch {
        await worker.terminate();
        const problem = `checking against it took longer than ${timeoutMs / 1000} s or too much memory; simplify it`;
        return { schemaProblem: problem };
      }
    });
  }
}
