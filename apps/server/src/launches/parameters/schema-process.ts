import { fileURLToPath } from 'node:url';
import type { Confinement } from '@phalanx/confinement';

import { programFiles } from '../../processes/program-files.ts';
import { ConfinedProcess, ConfinedProcessEnded } from '../../processes/confined-process.ts';
import { isFromProcess, type FromProcess, type ToProcess } from './process/messages.ts';

const program = fileURLToPath(new URL('process/main.ts', import.meta.url));
const megabyte = 1024 * 1024;
const maxHeapMb = 192;
const maxMemoryBytes = (maxHeapMb + 128) * megabyte;
/** Node has this mapped before it has done anything. */
const headroomBytes = 2 * 1024 * megabyte;
const maxDataBytes = maxMemoryBytes + headroomBytes;
const watchMs = 20;
/** Of a machine that is busy with other work; a process that uses no processor is ended by it, too. */
const timeoutMs = 60_000;
const startBudget = { processorMs: 20_000, timeoutMs };
/** Once a schema; from then on it is warm. */
const compileBudget = { processorMs: 2000, timeoutMs };
const checkBudget = { processorMs: 100, timeoutMs };

interface Question {
  readonly hash: string;
  readonly schema: string;
  readonly parameters: Record<string, unknown> | undefined;
}

type Answer = Extract<FromProcess, { kind: 'fits' | 'refused' | 'schema_problem' }>;

/** The server's end of a process that compiles schemas, keeps them warm, and checks parameters against them. */
export class SchemaProcess extends ConfinedProcess<ToProcess, FromProcess> {
  readonly #ready = Promise.withResolvers<void>();
  /** Schemas that it has compiled; it may have dropped some. */
  readonly #compiled = new Set<string>();
  #isTaken = false;

  constructor(confinement: Confinement) {
    super({
      confinement,
      program,
      policy: { ...programFiles(), emptyNetwork: true, keptDescriptors: [3], maxDataBytes, maxFileBytes: 0 },
      maxMemoryBytes,
      isReply: isFromProcess,
      nodeFlags: [`--max-old-space-size=${maxHeapMb}`],
      watchMs,
    });
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
    const { problem } = await this.work(asked, compileBudget);
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
