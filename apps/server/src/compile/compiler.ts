import { askBundle } from './ask-bundle.ts';
import { askCheck, type FileChange } from './ask-check.ts';
import { CompileProcessEnded, type CompileProcess, type EndReason } from './compile-process.ts';
import { errorLine } from './error-lines.ts';
import type { BundleResult } from './process/bundle.ts';
import { ProcessPool } from './process-pool.ts';
import type { ProjectFiles } from './project-files.ts';
import { SourcesTooLarge } from './project-mirror.ts';
import { findCompiledPath } from './source-paths.ts';

interface CompilerOptions {
  log: { warn(details: object, message: string): void };
  /** Declarations that every project sees: the texts, one after the other. */
  agentTypes: string;
  /** How many compile processes may run. Each takes about 250 MB. Default 2. */
  processes?: number;
  /** For the compilation of one file; whole projects have three times as long. Default 20,000. */
  timeoutMs?: number;
  /** Of one compile process with all that it starts. Default 2,048. */
  maxMemoryMb?: number;
  /** Projects kept warm in one process. Opening one more takes longer the more there are. Default 32. */
  maxWarmProjects?: number;
}

interface Failure {
  ok: false;
  /** Lines for the user, such as `main.ts(3,7): error TS2322: …`. */
  errors: string[];
}

export interface Compiler {
  /**
   * Checks `path` with `content` as it would be in the project, and emits it. Nothing is written.
   * Only mistakes in that file count: what it breaks in others is found when those are written, or at launch.
   */
  compileFile(
    files: ProjectFiles,
    change: FileChange,
  ): Promise<{ ok: true; compiledPath: string; js: string } | Failure>;
  /** Checks all TypeScript sources, and emits them. With `complete` an import of a file that is not there is a mistake. */
  compileProject(
    files: ProjectFiles,
    options: { complete: boolean; emit?: boolean },
  ): Promise<{ ok: true; outputs: Map<string, string> } | Failure>;
  /** One script for the sandbox, which starts with `main.ts` (or `main.js`), and its source map (version 3, JSON). Types are not checked. */
  bundleProject(files: ProjectFiles): Promise<BundleResult>;
  /** Resident bytes of all compile processes. */
  memoryUse(): Promise<number>;
  close(): Promise<void>;
}

export function createCompiler(options: CompilerOptions): Compiler {
  const {
    log,
    agentTypes,
    processes = 2,
    timeoutMs = 20_000,
    maxMemoryMb = 2_048,
    maxWarmProjects = 32,
  } = options;
  const pool = new ProcessPool({
    processes,
    agentTypes,
    maxMemoryBytes: maxMemoryMb * 1024 * 1024,
    onEnd: (error, projectId) =>
      log.warn({ projectId, reason: error.reason, detail: error.message }, 'a compile process ended'),
  });

  /** Runs at a process; what makes the compiler give up becomes an error line at `path`. */
  async function run<Result>(
    { projectId }: ProjectFiles,
    limit: { path: string; timeoutMs: number },
    task: (process: CompileProcess) => Promise<Result>,
  ): Promise<Result | Failure> {
    try {
      return await pool.run({ projectId, timeoutMs: limit.timeoutMs, task });
    } catch (error) {
      if (error instanceof SourcesTooLarge)
        return { ok: false, errors: [errorLine(limit.path, undefined, error.message)] };
      if (!(error instanceof CompileProcessEnded)) throw error;
      const text = endText(error.reason, { timeoutMs: limit.timeoutMs, maxMemoryMb });
      return { ok: false, errors: [errorLine(limit.path, { line: 1, column: 1 }, text)] };
    }
  }

  const wholeProject = { path: 'main.ts', timeoutMs: timeoutMs * 3 };
  return {
    compileFile: (files, change) =>
      run(files, { path: change.path, timeoutMs }, async (process) => {
        const compiledPath = findCompiledPath(change.path);
        if (compiledPath === undefined) throw new Error(`${change.path} is not a source to compile`);
        const task = { files, change, maxWarmProjects, isComplete: false, isEmitted: true };
        const { errors, outputs } = await askCheck(process, task);
        const js = outputs[0]?.[1];
        return js === undefined ? { ok: false, errors } : { ok: true, compiledPath, js };
      }),
    compileProject: (files, { complete, emit = true }) =>
      run(files, wholeProject, async (process) => {
        const task = { files, maxWarmProjects, isComplete: complete, isEmitted: emit };
        const { errors, outputs } = await askCheck(process, task);
        return errors.length > 0 ? { ok: false, errors } : { ok: true, outputs: new Map(outputs) };
      }),
    bundleProject: (files) => run(files, wholeProject, (process) => askBundle(process, files)),
    memoryUse: () => pool.memoryUse(),
    close: () => pool.close(),
  };
}

function endText(
  reason: EndReason,
  { timeoutMs, maxMemoryMb }: { timeoutMs: number; maxMemoryMb: number },
): string {
  if (reason === 'timed_out')
    return `Compiling took longer than ${timeoutMs / 1000} s. Make the types simpler or the file smaller.`;
  if (reason === 'out_of_memory')
    return `Compiling took more than ${maxMemoryMb} MB of memory. Make the types simpler or the file smaller.`;
  return 'The compiler broke down over this code. Make the types simpler or the nesting less deep.';
}
