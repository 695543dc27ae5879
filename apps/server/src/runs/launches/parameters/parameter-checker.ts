import { createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import type { Confinement } from '@phalanx/confinement';
import { ApiError } from '../../../kernel/errors/api-error.ts';
import { maxSchemaBytes } from '../../../code/files/parameters-schema.ts';
import { findExcess, jsonBounds } from '../../../http/requests/bodies/json-bounds.ts';
import type { Turns } from '../../../kernel/limits/turns.ts';
import {
  type Budget,
  ConfinedProcessEnded,
  type EndReason,
  ConfinedProcess,
  programFiles,
} from '../../../kernel/processes/confined-process.ts';
import { type FromProcess, isFromProcess, type ToProcess } from './process/messages.ts';

type Parameters = Record<string, unknown>;
type Answer = Extract<FromProcess, { kind: 'fits' | 'refused' | 'schema_problem' }>;

interface Options {
  readonly turns: Turns;
  /** Confinement of the processes that read schemas. */
  readonly confinement: Confinement;
  /** Processor time to compile a schema, once; from then on it is warm. Default 2,000. */
  readonly compileMs?: number;
}

/** Finds the reason not to read a schema at all, as the end of a sentence that begins with "it". */
function findSizeProblem(schema: string): string | undefined {
  const sizeBytes = Buffer.byteLength(schema);
  return sizeBytes > maxSchemaBytes
    ? `has ${sizeBytes} bytes, and at most ${maxSchemaBytes} are read`
    : findExcess(Buffer.from(schema), jsonBounds.parametersSchema);
}

const endProblems: Record<EndReason, string> = {
  out_of_processor_time: 'checking against it takes too much processor time; simplify it, its patterns first',
  timed_out: 'checking against it took too long; simplify it',
  out_of_memory: 'checking against it takes too much memory; simplify it',
  crashed: 'the process that checked against it broke down; simplify it',
  not_started: '',
};

/** Checks the parameters of launches against the schemas of their projects, in processes that the system confines. */
export class ParameterChecker {
  readonly #options: Options;
  #processes: SchemaProcess[] = [];
  #isClosed = false;

  constructor(options: Options) {
    this.#options = options;
  }

  /**
   * Returns the parameters with the defaults of the schema. Throws `invalid_parameters` or `invalid_parameter_schema`.
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

  /** Resident bytes of its processes. */
  async memoryUse(): Promise<number> {
    const sizes = await Promise.all(this.#processes.map((process) => process.memoryUse()));
    return sizes.reduce((sum, sizeBytes) => sum + sizeBytes, 0);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const processes = this.#processes;
    for (const process of processes) process.kill('crashed');
    await Promise.all(processes.map(({ ended }) => ended));
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

  /**
   * Retries in a new process when a used one has crashed or run out of memory: leftovers of other schemas must not
   * refuse this one.
   */
  async #ask(question: Question): Promise<Answer> {
    const process = this.#choose(question.hash);
    const wasUsed = process.isUsed;
    const answering = process.answer(question);
    this.#keepOneReady();
    try {
      return await answering;
    } catch (error) {
      if (!(error instanceof ConfinedProcessEnded) || this.#isClosed) throw error;
      const mayBeOfOthers = wasUsed && ['out_of_memory', 'crashed'].includes(error.reason);
      return mayBeOfOthers ? await this.#askAnew(question) : this.#problemOf(error);
    } finally {
      this.#keepOneReady();
    }
  }

  async #askAnew(question: Question): Promise<Answer> {
    try {
      return await this.#start().answer(question);
    } catch (error) {
      if (!(error instanceof ConfinedProcessEnded) || this.#isClosed) throw error;
      return this.#problemOf(error);
    }
  }

  #problemOf(error: ConfinedProcessEnded): Answer {
    if (error.reason === 'not_started') throw ApiError.of('compiler_unavailable', {}, { cause: error });
    return { kind: 'schema_problem', problem: endProblems[error.reason] };
  }

  /** Chooses an idle process, a warm one first. There are at most as many busy processes as `turns` allows. */
  #choose(hash: string): SchemaProcess {
    const idle = this.#processes.filter(({ isBusy }) => !isBusy);
    return idle.find((process) => process.isWarm(hash)) ?? idle[0] ?? this.#start();
  }

  /**
   * Keeps one process idle, so that nobody waits for a start because another user's schema holds a process or has ended
   * it.
   */
  #keepOneReady(): void {
    if (!this.#isClosed && !this.#processes.some(({ isBusy }) => !isBusy)) this.#start();
  }

  #start(): SchemaProcess {
    const process = new SchemaProcess(this.#options);
    this.#processes.push(process);
    void process.ended.then(() => {
      this.#processes = this.#processes.filter((other) => other !== process);
    });
    return process;
  }
}

interface Question {
  readonly hash: string;
  readonly schema: string;
  /** Undefined: only the schema is looked at. */
  readonly parameters: Parameters | undefined;
}

const program = fileURLToPath(new URL('process/main.ts', import.meta.url));
const megabyte = 1024 * 1024;
const maxHeapMb = 192;
const maxMemoryBytes = (maxHeapMb + 128) * megabyte;
/** Memory that Node has mapped before it has done anything. */
const headroomBytes = 2 * 1024 * megabyte;
const maxDataBytes = maxMemoryBytes + headroomBytes;
const watchMs = 20;
/** Timeout for a machine that is busy with other work. It also ends a process that uses no processor time. */
const timeoutMs = 60_000;
const startBudget = { processorMs: 20_000, timeoutMs };
const checkBudget = { processorMs: 100, timeoutMs };

/** The server's end of a process that compiles schemas, keeps them warm, and checks parameters against them. */
class SchemaProcess extends ConfinedProcess<ToProcess, FromProcess> {
  readonly #ready = Promise.withResolvers<void>();
  /** Schemas that it has compiled; it may have dropped some. */
  readonly #compiled = new Set<string>();
  readonly #compileBudget: Budget;
  #isTaken = false;

  constructor({ confinement, compileMs = 2000 }: Options) {
    super({
      confinement,
      program,
      policy: { ...programFiles(), emptyNetwork: true, keptDescriptors: [3], maxDataBytes, maxFileBytes: 0 },
      maxMemoryBytes,
      isReply: isFromProcess,
      nodeFlags: [`--max-old-space-size=${maxHeapMb}`],
      watchMs,
    });
    this.#compileBudget = { processorMs: compileMs, timeoutMs };
    void this.ended.then(() => this.#ready.reject(new ConfinedProcessEnded('not_started', '')));
    this.#ready.promise.catch(() => undefined);
  }

  override get isBusy(): boolean {
    return this.#isTaken || super.isBusy;
  }

  get isUsed(): boolean {
    return this.#compiled.size > 0;
  }

  isWarm(hash: string): boolean {
    return this.#compiled.has(hash);
  }

  /** Rejects with `ConfinedProcessEnded` when a budget was met. */
  async answer(question: Question): Promise<Answer> {
    this.#isTaken = true;
    try {
      await this.work(() => this.#ready.promise, startBudget);
      const { hash, parameters = {} } = question;
      const known = this.isWarm(hash) ? await this.#check(hash, parameters) : undefined;
      return known ?? (await this.#compileAndCheck(question));
    } finally {
      this.#isTaken = false;
    }
  }

  async #compileAndCheck({ hash, schema, parameters }: Question): Promise<Answer> {
    const take = (reply: FromProcess) => (reply.kind === 'compiled' ? reply : undefined);
    const asked = () => this.ask({ kind: 'compile', hash, schema }, take);
    const { problem } = await this.work(asked, this.#compileBudget);
    this.#compiled.add(hash);
    if (problem !== null) return { kind: 'schema_problem', problem };
    if (parameters === undefined) return { kind: 'fits', parameters: {} };
    const answer = await this.#check(hash, parameters);
    return answer ?? { kind: 'schema_problem', problem: 'it was dropped before it was used' };
  }

  /** Undefined: the process does not have the schema any more. */
  async #check(hash: string, parameters: Record<string, unknown>): Promise<Answer | undefined> {
    const take = (reply: FromProcess) =>
      reply.kind === 'compiled' || reply.kind === 'ready' ? undefined : reply;
    const reply = await this.work(() => this.ask({ kind: 'check', hash, parameters }, take), checkBudget);
    if (reply.kind !== 'unknown') return reply;
    this.#compiled.delete(hash);
    return undefined;
  }

  protected override receive(reply: FromProcess): void {
    if (reply.kind === 'ready') this.#ready.resolve();
    else super.receive(reply);
  }
}
