import { createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import type { Confinement } from '@phalanx/confinement';
import { ApiError } from '../../../kernel/errors/api-error.ts';
import { maxSchemaBytes } from '../../../code/files/parameters-schema.ts';
import { findExcess, jsonBounds } from '../../../http/requests/bodies/json-bounds.ts';
import type { Turns } from '../../../kernel/limits/turns.ts';
import { ConfinedProcessEnded, type EndReason } from '../../../kernel/processes/confined-process.ts';
import { OnDemandProcess } from '../../../kernel/processes/on-demand-process.ts';
import { type FromProcess, isFromProcess, type ToProcess } from './process/messages.ts';

type Parameters = Record<string, unknown>;
type Answer = Extract<FromProcess, { kind: 'fits' | 'refused' | 'schema_problem' }>;
type SchemaProcess = OnDemandProcess<ToProcess, FromProcess>;

const program = fileURLToPath(new URL('process/main.ts', import.meta.url));
const maxHeapMb = 192;
/** Interval of the processor-time check, in ms: short compared to the budget of a check. */
const watchMs = 20;
const checkBudget = { processorMs: 100 };

interface Question {
  readonly hash: string;
  readonly schema: string;
  /** Undefined: only the schema is checked. */
  readonly parameters: Parameters | undefined;
}

/** Returns the reason to refuse a schema unread, as the end of a sentence that begins with "it". */
function findSizeProblem(schema: string): string | undefined {
  const sizeBytes = Buffer.byteLength(schema);
  return sizeBytes > maxSchemaBytes
    ? `has ${sizeBytes} bytes; at most ${maxSchemaBytes} are allowed`
    : findExcess(Buffer.from(schema), jsonBounds.parametersSchema);
}

const endProblems: Record<EndReason, string> = {
  out_of_processor_time: 'checking against it takes too much processor time; simplify it, its patterns first',
  timed_out: 'checking against it took too long; simplify it',
  out_of_memory: 'checking against it takes too much memory; simplify it',
  crashed: 'the process that checked against it crashed; simplify it',
  not_started: '',
};

interface Options {
  readonly turns: Turns;
  /** Sandbox of the processes that compile schemas. */
  readonly confinement: Confinement;
  /** Processor time for the compilation of a schema, in ms; later checks use the cached result. Default 2,000. */
  readonly compileMs?: number;
}

/** Validates launch parameters against their projects' schemas, in processes that the system confines. */
export class ParameterChecker {
  readonly #options: Required<Options>;
  readonly #processes: SchemaProcess[] = [];
  /** Idle processes, most recently used last: that one is running and has schemas cached. */
  readonly #idle: SchemaProcess[] = [];
  #isClosed = false;

  constructor({ compileMs = 2000, ...options }: Options) {
    this.#options = { ...options, compileMs };
  }

  /**
   * Validates the parameters and returns them with the schema's defaults. Throws `invalid_parameters` or
   * `invalid_parameter_schema`.
   */
  async check(schema: string, parameters: Parameters, userId: string): Promise<Parameters> {
    const answer = await this.#answer({ schema, parameters, userId });
    if (answer.kind === 'schema_problem')
      throw ApiError.of('invalid_parameter_schema', { problem: answer.problem });
    if (answer.kind === 'refused')
      throw ApiError.of('invalid_parameters', { reasons: answer.reasons.join('; ') });
    return answer.parameters;
  }

  /** Finds the reason why `schema` can't be used. */
  async findSchemaProblem(schema: string, userId = ''): Promise<string | undefined> {
    const answer = await this.#answer({ schema, parameters: undefined, userId });
    return answer.kind === 'schema_problem' ? answer.problem : undefined;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(this.#processes.map((process) => process.close()));
  }

  async #answer(question: {
    schema: string;
    parameters: Parameters | undefined;
    userId: string;
  }): Promise<Answer> {
    const { schema, parameters, userId } = question;
    const excess = findSizeProblem(schema);
    if (excess !== undefined) return { kind: 'schema_problem', problem: `it ${excess}` };
    const hash = createHash('sha256').update(schema).digest('base64');
    return this.#options.turns.run(userId, () => this.#ask({ hash, schema, parameters }));
  }

  /** Asks an idle process, or a new one. `turns` limits the number of concurrent processes. */
  async #ask(question: Question): Promise<Answer> {
    const process = this.#idle.pop() ?? this.#create();
    try {
      const answer = await this.#askTwice(process, question);
      this.#idle.push(process);
      return answer;
    } catch (error) {
      // The process has ended, so it goes to the front: running processes are reused first.
      this.#idle.unshift(process);
      if (!(error instanceof ConfinedProcessEnded) || this.#isClosed) throw error;
      if (error.reason === 'not_started') throw ApiError.of('compiler_unavailable', {}, { cause: error });
      return { kind: 'schema_problem', problem: endProblems[error.reason] };
    }
  }

  /** Retries once after a crash or out-of-memory exit: leftovers of other schemas must not refuse this one. */
  async #askTwice(process: SchemaProcess, question: Question): Promise<Answer> {
    try {
      return await this.#askProcess(process, question);
    } catch (error) {
      if (this.#isClosed || !mayBeOfOthers(error)) throw error;
      return this.#askProcess(process, question);
    }
  }

  async #askProcess(process: SchemaProcess, { hash, schema, parameters }: Question): Promise<Answer> {
    const check = (): Promise<FromProcess> =>
      process.ask({ kind: 'check', hash, parameters: parameters ?? {} }, checkBudget);
    const warm = await check();
    if (isAnswer(warm)) return warm;
    const compileBudget = { processorMs: this.#options.compileMs };
    const compiled = await process.ask({ kind: 'compile', hash, schema }, compileBudget);
    if (compiled.kind === 'compiled' && compiled.problem !== null)
      return { kind: 'schema_problem', problem: compiled.problem };
    if (parameters === undefined) return { kind: 'fits', parameters: {} };
    const answer = await check();
    if (isAnswer(answer)) return answer;
    throw new Error(`the process that checks parameters answered with "${answer.kind}"`);
  }

  #create(): SchemaProcess {
    const { confinement } = this.#options;
    const process = new OnDemandProcess({ confinement, program, maxHeapMb, isReply: isFromProcess, watchMs });
    this.#processes.push(process);
    return process;
  }
}

const mayBeOfOthers = (error: unknown): boolean =>
  error instanceof ConfinedProcessEnded && ['out_of_memory', 'crashed'].includes(error.reason);

const isAnswer = (reply: FromProcess): reply is Answer =>
  reply.kind === 'fits' || reply.kind === 'refused' || reply.kind === 'schema_problem';
