import type { Confinement } from '@phalanx/confinement';
import { ApiError } from '../../kernel/errors/api-error.ts';
import {
  askAssist,
  askBundle,
  askCheck,
  askToAddSigns,
  type FileChange,
  type SignsToAdd,
  type CompileProcess,
} from './compile-process.ts';
import {
  type Budget,
  ConfinedProcessEnded,
  type EndReason,
} from '../../kernel/processes/confined-process.ts';
import { errorLine } from './error-lines.ts';
import { ProcessPool } from './process-pool.ts';
import type { BundleResult } from './process/bundle.ts';
import {
  nothingFound,
  type Assistance,
  type AssistMessage,
  type SignsAddedMessage,
} from './process/messages.ts';
import { type ProjectFiles, SourcesTooLarge } from './project-mirror.ts';
import { findCompiledPath } from './source-paths.ts';

interface CompilerOptions {
  /** Confinement of the compile processes. */
  confinement: Confinement;
  log: { warn(details: object, message: string): void };
  /** Declarations visible to every project, as one text. */
  agentTypes: string;
  /** Maximum number of compile processes. Each takes about 250 MB. Default 3. */
  processes?: number;
  /** Timeout for compiling one file, in ms. Whole projects get three times as long. Default 60,000. */
  timeoutMs?: number;
  /**
   * Maximum CPU time for compiling one file, in ms, summed over all CPUs. Whole projects get three times as much.
   * Default 10,000.
   */
  processorMs?: number;
  /** Memory limit of one compile process and its children together, in MiB. Default 2,048. */
  maxMemoryMb?: number;
  /**
   * Maximum number of projects that one process keeps warm. The more there are, the longer it takes to open another.
   * Default 32.
   */
  maxWarmProjects?: number;
}

interface Failure {
  ok: false;
  /** Lines for the user, such as `main.ts(3,7): error TS2322: …`. */
  errors: string[];
}

/** Position in code, as an offset in UTF-16 units, and what to find there. */
export type PlaceInCode = Pick<AssistMessage, 'position' | 'of'>;

export interface Compiler {
  /**
   * Checks `path` as if the project contained it with `content`, and emits it if it is a source. Writes nothing. Fails
   * only for sources, and only for errors in the source itself. `warnings` lists errors in files of other kinds, and in
   * files that depend on this one.
   */
  compileFile(
    files: ProjectFiles,
    change: FileChange,
  ): Promise<{ ok: true; js: string | undefined; warnings: string[] } | Failure>;
  /**
   * Describes the symbol, completions or references at a position of `change`. Returns `nothingFound` when the compiler
   * gives up.
   */
  assist(files: ProjectFiles, change: FileChange & PlaceInCode): Promise<Assistance>;
  /**
   * Returns, per sign, the files that change so that the code recognises the sign and compiles, or the reason why the
   * sign can't be added.
   */
  addSigns(files: ProjectFiles, added: SignsToAdd): Promise<SignsAddedMessage['fixes']>;
  /** Checks and emits all TypeScript sources. */
  compileProject(files: ProjectFiles): Promise<{ ok: true; outputs: Map<string, string> } | Failure>;
  /**
   * Bundles the project into one script for the sandbox, with the entry `main.ts` (or `main.js`), and a source map
   * (version 3, JSON). Does not check types.
   */
  bundleProject(files: ProjectFiles): Promise<BundleResult>;
  /** Bundles standalone code in the same way. Work of one `owner` does not wait for work of another. */
  bundleDirectCode(owner: string, code: string): Promise<BundleResult>;
  /** Starts a compile process before the first request. */
  prepare(): void;
  /** Resident bytes of all compile processes. */
  memoryUse(): Promise<number>;
  close(): Promise<void>;
}

/** Error number of the checker for types that are too complex. */
const tooComplex = 2589;

export function createCompiler(options: CompilerOptions): Compiler {
  const {
    log,
    agentTypes,
    confinement,
    processes = 3,
    timeoutMs = 60_000,
    processorMs = 10_000,
    maxMemoryMb = 2_048,
    maxWarmProjects = 32,
  } = options;
  const pool = new ProcessPool({
    processes,
    agentTypes,
    confinement,
    maxMemoryBytes: maxMemoryMb * 1024 * 1024,
    onEnd: (error, projectId) =>
      log.warn({ projectId, reason: error.reason, detail: error.message }, 'a compile process ended'),
  });

  /** Runs a task in a process. When the compiler gives up, the reason becomes an error line at `path`. */
  async function run<Result>(
    { projectId, userId = projectId }: Pick<ProjectFiles, 'projectId' | 'userId'>,
    limit: { path: string; budget: Budget },
    task: (process: CompileProcess) => Promise<Result>,
  ): Promise<Result | Failure> {
    try {
      return await pool.run({ projectId, userId, budget: limit.budget, task });
    } catch (error) {
      const text = reasonOf(error, { ...limit.budget, maxMemoryMb });
      if (text === undefined) throw explained(error);
      return { ok: false, errors: [errorLine(limit.path, undefined, tooComplex, text)] };
    }
  }

  const ofFile = { processorMs, timeoutMs };
  const ofProject = { processorMs: processorMs * 3, timeoutMs: timeoutMs * 3 };
  const wholeProject = { path: 'main.ts', budget: ofProject };
  return {
    compileFile: (files, change) =>
      run(files, { path: change.path, budget: ofFile }, async (process) => {
        const { errors, outputs, warnings } = await askCheck(process, { files, change, maxWarmProjects });
        if (findCompiledPath(change.path) === undefined)
          return { ok: true, js: undefined, warnings: [...errors, ...warnings] };
        return errors.length > 0 ? { ok: false, errors } : { ok: true, js: outputs[0]?.[1], warnings };
      }),
    assist: async (files, { path, content, position, of }) => {
      const found = await run(files, { path, budget: ofFile }, (process) =>
        askAssist(process, { files, change: { path, content }, position, of, maxWarmProjects }),
      );
      return 'ok' in found ? nothingFound : found;
    },
    addSigns: async (files, added) => {
      const reply = await run(files, wholeProject, (process) =>
        askToAddSigns(process, { files, added, maxWarmProjects }),
      );
      return 'fixes' in reply
        ? reply.fixes
        : added.signs.map(() => ({ files: [], problem: reply.errors[0] ?? '' }));
    },
    compileProject: (files) =>
      run(files, wholeProject, async (process) => {
        const { errors, outputs } = await askCheck(process, { files, maxWarmProjects });
        return errors.length > 0 ? { ok: false, errors } : { ok: true, outputs: new Map(outputs) };
      }),
    bundleProject: (files) => run(files, wholeProject, (process) => askBundle(process, files, 'project')),
    bundleDirectCode: (owner, code) =>
      run({ projectId: owner }, { path: directPath, budget: ofFile }, (process) =>
        askBundle(process, filesOfDirectCode(owner, code), 'direct code'),
      ),
    prepare: () => pool.prepare(),
    memoryUse: () => pool.memoryUse(),
    close: () => pool.close(),
  };
}

const directPath = 'main.ts';

const filesOfDirectCode = (projectId: string, code: string): ProjectFiles => ({
  projectId,
  treeId: '',
  list: async () => new Map([[directPath, '']]),
  read: async () => code,
  given: new Map([[directPath, code]]),
});

/** Limits that an error text names. */
type Limits = Budget & { maxMemoryMb: number };

/** Returns the error text for the user. Undefined when the code is not the cause. */
function reasonOf(error: unknown, limits: Limits): string | undefined {
  if (error instanceof SourcesTooLarge) return error.message;
  return error instanceof ConfinedProcessEnded ? endText(error.reason, limits) : undefined;
}

/**
 * Converts the end of a compile process into `compiler_unavailable`, because a compiler that can't start is not the
 * code's fault.
 */
const explained = (error: unknown): unknown =>
  error instanceof ConfinedProcessEnded ? ApiError.of('compiler_unavailable', {}, { cause: error }) : error;

function endText(reason: EndReason, { processorMs, timeoutMs, maxMemoryMb }: Limits): string | undefined {
  if (reason === 'not_started') return undefined;
  if (reason === 'timed_out')
    return `Compiling took longer than ${timeoutMs / 1000} s. Simplify the types or split the file.`;
  if (reason === 'out_of_processor_time')
    return `Compiling took more than ${processorMs / 1000} s of processor time. Simplify the types or split the file.`;
  if (reason === 'out_of_memory')
    return `Compiling took more than ${maxMemoryMb} MB of memory. Simplify the types or split the file.`;
  return 'The compiler crashed on this code. Simplify the types or reduce the nesting.';
}

/** Returns a successful compilation. Throws `compile_failed` for code that does not compile. */
export function requireCompiled<Compiled extends { ok: true }>(
  result: Compiled | { ok: false; errors: string[] },
): Compiled {
  if (result.ok) return result;
  const { errors } = result;
  throw ApiError.of('compile_failed', { summary: summaryOf(errors) }, { errors });
}

/** Returns the first error line without its full stop, for use within a sentence. */
export const summaryOf = ([first = 'unknown mistake']: readonly string[]): string => first.replace(/\.$/, '');
