import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { Confinement, Policy } from '@phalanx/confinement';
import { ConfinedProcess, programFiles } from '../../kernel/processes/confined-process.ts';
import { findLibraryFolder } from './process/virtual-files.ts';
import {
  isFromProcess,
  type FromProcess,
  type ToProcess,
  type AddSignsMessage,
  type AssistedMessage,
  type AssistMessage,
  type BundleKind,
  type BundleMessage,
  type CheckedMessage,
  type CheckMessage,
  type SignsAddedMessage,
  nothingFound,
} from './process/messages.ts';
import { ProjectMirror, type ProjectFiles } from './project-mirror.ts';
import type { BundleResult } from './process/bundle.ts';
import { readProjectSettings, settingsPath } from './project-settings.ts';

/** Headroom of the data segment limit above the memory limit. Node maps half of it at startup. */
const headroomBytes = 2 * 1024 * 1024 * 1024;

/** Maximum total source text that one process keeps warm, in UTF-16 units. */
const maxWarmLength = 128 * 1024 * 1024;

export interface CompileProcessOptions {
  readonly agentTypes: string;
  /** Maximum resident memory of the process and its children together. */
  readonly maxMemoryBytes: number;
  readonly confinement: Confinement;
}

const program = fileURLToPath(new URL('process/main.ts', import.meta.url));
const megabyte = 1024 * 1024;

/** Server side of one compile process. */
export class CompileProcess extends ConfinedProcess<ToProcess, FromProcess> {
  /** Mirrors of the process's warm projects by project ID, the most recently used one last. */
  readonly mirrors = new Map<string, ProjectMirror>();

  constructor({ agentTypes, maxMemoryBytes, confinement }: CompileProcessOptions) {
    super({
      confinement,
      program,
      policy: compilePolicy(maxMemoryBytes),
      maxMemoryBytes,
      isReply: isFromProcess,
      // Collects garbage less often, which makes checks faster. Near the limit, Go collects as often as it must.
      environment: { GOGC: '300', GOMEMLIMIT: `${Math.floor((maxMemoryBytes / megabyte) * 0.7)}MiB` },
    });
    void this.ended.then(() => this.mirrors.clear());
    void this.send({ kind: 'start', agentTypes });
  }

  protected override receive(message: FromProcess): void {
    if (message.kind === 'processes') this.countAlso(message.processIds);
    else super.receive(message);
  }
}

/**
 * Confinement policy of a compile process. Project files arrive in messages, so the process reads only its own program
 * and writes nothing.
 */
const compilePolicy = (maxMemoryBytes: number): Policy => {
  const { readable, runnable } = programFiles();
  return {
    readable,
    runnable: [...runnable, findLibraryFolder(), findEmitter()],
    // Allows starting these two programs, and threads. The started processes are confined in the same way.
    processes: true,
    emptyNetwork: true,
    keptDescriptors: [3],
    // Limits the data segment. Resident memory is sampled only five times a second; this limit stops faster growth at
    // once.
    maxDataBytes: maxMemoryBytes + headroomBytes,
    maxFileBytes: 0,
  };
};

/** Returns the path of esbuild's native program. */
function findEmitter(): string {
  const esbuild = createRequire(createRequire(import.meta.url).resolve('esbuild/package.json'));
  return esbuild.resolve(`@esbuild/${process.platform}-${process.arch}/bin/esbuild`);
}

export interface FileChange {
  path: string;
  content: string;
}

interface Check {
  files: ProjectFiles;
  /** Changed file. Without it, the whole project is checked. */
  change?: FileChange;
  maxWarmProjects: number;
}

/** Sends a process the project's changes, then requests a check. */
export const askCheck = (process: CompileProcess, check: Check): Promise<CheckedMessage> =>
  atMirror(process, check, async (mirror) => {
    const { files, change } = check;
    const read = await mirror.update(files, change);
    if (!read.ok) return { kind: 'checked', errors: read.errors, outputs: [], wanted: [], warnings: [] };
    const path = change === undefined ? {} : { path: change.path };
    const message: CheckMessage = { kind: 'check', root: mirror.root, settings: read.settings, ...path };
    const take = (reply: FromProcess) => (reply.kind === 'checked' ? reply : undefined);
    return askUntilSupplied(() => process.ask(message, take), { mirror, files });
  });

type Assist = Check & { change: FileChange; position: number; of: AssistMessage['of'] };

/** Asks a process about a position in a file. The request contains the file's content. */
export const askAssist = (process: CompileProcess, assist: Assist): Promise<AssistedMessage> =>
  atMirror(process, assist, async (mirror) => {
    const { files, change, position, of } = assist;
    const read = await mirror.update(files, change);
    if (!read.ok) return { kind: 'assisted', ...nothingFound, wanted: [] };
    const place = { root: mirror.root, settings: read.settings, path: change.path, position, of };
    const take = (reply: FromProcess) => (reply.kind === 'assisted' ? reply : undefined);
    return askUntilSupplied(() => process.ask({ kind: 'assist', ...place }, take), { mirror, files });
  });

/** Signs to add, without the project. */
export type SignsToAdd = Omit<AddSignsMessage, 'kind' | 'root' | 'settings'>;

/** Asks a process to change the code of a project, once per sign, so that the code recognises a screen by the sign. */
export const askToAddSigns = (
  process: CompileProcess,
  { added, ...check }: Omit<Check, 'change'> & { added: SignsToAdd },
): Promise<SignsAddedMessage> =>
  atMirror(process, check, async (mirror) => {
    const { files } = check;
    const read = await mirror.update(files);
    if (!read.ok) {
      const problem = read.errors[0] ?? '';
      return { kind: 'signs added', fixes: added.signs.map(() => ({ files: [], problem })), wanted: [] };
    }
    const message = { kind: 'add signs', root: mirror.root, settings: read.settings, ...added } as const;
    const take = (reply: FromProcess) => (reply.kind === 'signs added' ? reply : undefined);
    return askUntilSupplied(() => process.ask(message, take), { mirror, files });
  });

/** Repeats the request until the reply lists no wanted files, and sends the wanted files before each repetition. */
async function askUntilSupplied<Reply extends { wanted: string[] }>(
  ask: () => Promise<Reply>,
  { mirror, files }: { mirror: ProjectMirror; files: ProjectFiles },
): Promise<Reply> {
  for (;;) {
    const reply = await ask();
    if (reply.wanted.length === 0) return reply;
    await mirror.supply(files, reply.wanted);
  }
}

/** Runs a task with a process's mirror of a project. Evicts other projects first if there is no room. */
async function atMirror<Result>(
  process: CompileProcess,
  check: Check,
  task: (mirror: ProjectMirror) => Promise<Result>,
): Promise<Result> {
  const { projectId } = check.files;
  const mirror = process.mirrors.get(projectId) ?? new ProjectMirror((message) => process.send(message));
  process.mirrors.delete(projectId);
  await makeRoom(process, check.maxWarmProjects);
  process.mirrors.set(projectId, mirror);
  try {
    return await task(mirror);
  } catch (error) {
    // Forgets the project, because the process may have only part of the changes. The next task sends all files again.
    process.mirrors.delete(projectId);
    await process.send({ kind: 'forget', root: mirror.root });
    throw error;
  }
}

/** Evicts the least recently used projects to make room for one more. */
async function makeRoom(process: CompileProcess, maxWarmProjects: number): Promise<void> {
  const { mirrors } = process;
  while (mirrors.size >= maxWarmProjects || totalLength(mirrors.values()) > maxWarmLength) {
    const [oldest] = mirrors;
    if (oldest === undefined) return;
    mirrors.delete(oldest[0]);
    await process.send({ kind: 'forget', root: oldest[1].root });
  }
}

const totalLength = (mirrors: Iterable<ProjectMirror>): number =>
  [...mirrors].reduce((sum, { sourcesLength }) => sum + sourcesLength, 0);

/** Asks a process to bundle. The process requests the content of each imported file. */
export async function askBundle(
  process: CompileProcess,
  files: ProjectFiles,
  of: BundleKind,
): Promise<BundleResult> {
  const listed = await files.list();
  const read = readProjectSettings(listed.has(settingsPath) ? await files.read(settingsPath) : undefined);
  if (!read.ok) return read;
  const failures: unknown[] = [];
  const supply = async (path: string): Promise<void> => {
    const content = await files.read(path).catch((error: unknown) => {
      failures.push(error);
    });
    await process.send({ kind: 'content', path, content: content ?? null });
  };
  const paths = [...listed.keys()];
  const given = [...(files.given ?? [])];
  const message: BundleMessage = { kind: 'bundle', of, paths, settings: read.settings, given };
  const bundled = await process.ask(message, (reply) => {
    if (reply.kind === 'read') void supply(reply.path);
    return reply.kind === 'bundled' ? reply : undefined;
  });
  if (failures.length > 0) throw failures[0];
  const { errors, code, sourceMap } = bundled;
  return errors.length > 0 ? { ok: false, errors } : { ok: true, code, sourceMap };
}
