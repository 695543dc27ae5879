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
import { requireKnownChecker } from './process/virtual-files.ts';
import { type ProjectFiles, SourcesTooLarge } from './project-mirror.ts';
import { findCompiledPath } from './source-paths.ts';

interface CompilerOptions {
  /** Confinement of the compile processes. */
  confinement: Confinement;
  log: { warn(details: object, message: string): void };
  /** Declarations that every project sees, all in one text. */
  agentTypes: string;
  /** Maximum number of compile processes. Each takes about 250 MB. Default 3. */
  processes?: number;
  /** Timeout for the compilation of one file. Whole projects have three times as long. Default 60,000. */
  timeoutMs?: number;
  /**
   * Limit of the processor time for one file, summed over all processors. Whole projects have three times as much.
   * Default 10,000.
   */
  processorMs?: number;
  /** Memory limit of one compile process with all that it starts. Default 2,048. */
  maxMemoryMb?: number;
  /**
   * Maximum number of projects that one process keeps warm. The more there are, the longer opening another takes.
   * Default 32.
   */
  maxWarmProjects?: number;
}

interface Failure {
  ok: false;
  /** Lines for the user, such as `main.ts(3,7): error TS2322: …`. */
  errors: string[];
}

/** Place as an offset in UTF-16 units, and the question about it. */
export type PlaceInCode = Pick<AssistMessage, 'position' | 'of'>;

export interface Compiler {
  /**
   * Checks `path` with `content` as it would be in the project, and emits it if it is a source. Writes nothing. Refuses
   * only sources, and only for their own mistakes. `warnings` are the mistakes in files of other kinds, and in files
   * that use this one.
   */
  compileFile(
    files: ProjectFiles,
    change: FileChange,
  ): Promise<{ ok: true; js: string | undefined; warnings: string[] } | Failure>;
  /** Describes the code that is, or could be, at a place of `change`. Finds nothing when the compiler gives up. */
  assist(files: ProjectFiles, change: FileChange & PlaceInCode): Promise<Assistance>;
  /**
   * Returns the files of the project as each of the signs would change them, so that they compile, or why there is no
   * place for the sign.
   */
  addSigns(files: ProjectFiles, added: SignsToAdd): Promise<SignsAddedMessage['fixes']>;
  /** Checks and emits all TypeScript sources. */
  compileProject(files: ProjectFiles): Promise<{ ok: true; outputs: Map<string, string> } | Failure>;
  /**
   * Bundles the project into one script for the sandbox, which starts with `main.ts` (or `main.js`), and its source map
   * (version 3, JSON). Does not check types.
   */
  bundleProject(files: ProjectFiles): Promise<BundleResult>;
  /** Bundles code that stands alone in the same way. The work of one `owner` does not wait for the work of another. */
  bundleDirectCode(owner: string, code: string): Promise<BundleResult>;
  /** Starts a compile process ahead of the first work. */
  prepare(): void;
  /** Resident bytes of all compile processes. */
  memoryUse(): Promise<number>;
  close(): Promise<void>;
}

/** Error number of the checker for types that are too complex. */
const tooComplex = 2589;

/** Throws a `SettingError` when another version of the checker is installed. */
export function createCompiler(options: CompilerOptions): Compiler {
  requireKnownChecker();
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

/** Error text for the user. Undefined when the code is not to blame. */
function reasonOf(error: unknown, limits: Limits): string | undefined {
  if (error instanceof SourcesTooLarge) return error.message;
  return error instanceof ConfinedProcessEnded ? endText(error.reason, limits) : undefined;
}

/** Blames the installation: a compiler that does not even start is no fault of the code. */
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

/** First error line without its full stop, to stand within a sentence. */
export const summaryOf = ([first = 'unknown mistake']: readonly string[]): string => first.replace(/\.$/, '');
