// Compile process: one checker with warm projects, and the emitter. The process leads a process group, so that it can
// be killed together with its children.
import { subscribe } from 'node:diagnostics_channel';
import { ChildProcess } from 'node:child_process';
import { Worker } from 'node:worker_threads';
import { transform } from 'esbuild';
import { openServerChannel } from '../../../kernel/processes/message-stream.ts';
import { limitLines } from '../error-lines.ts';
import { bundle } from './bundle.ts';
import {
  nothingFound,
  isToProcess,
  type BundleMessage,
  type CheckedMessage,
  type FilesMessage,
  type FromProcess,
  type ToProcess,
} from './messages.ts';
import { check, syntaxLines } from './check.ts';
import type { Checker } from './checker.ts';
import { findNestingProblem, TooDeepFiles } from './nesting.ts';

const children: ChildProcess[] = [];
subscribe('child_process', (message) => {
  if (typeof message !== 'object' || message === null || !('process' in message)) return;
  const { process: child } = message;
  if (!(child instanceof ChildProcess)) return;
  // Ends this process, which is of no use without the emitter or the checker.
  child.once('exit', () => process.exit(1));
  children.push(child);
});

/**
 * Sends the IDs of this process and its children. Call it right after the start of a child, because the checker may
 * block this thread from then on.
 */
function reportProcesses(): void {
  const started = children.flatMap(({ pid }) => pid ?? []);
  send({ kind: 'processes', processIds: [process.pid, ...started] });
}

const watchdog = new Worker(new URL('watchdog.ts', import.meta.url), { workerData: process.ppid });
watchdog.unref();
const tooDeep = new TooDeepFiles();
const reads = new Map<string, (content: string | null) => void>();

let take = (start: unknown): void => {
  if (!isToProcess(start) || start.kind !== 'start') throw new Error('The first message has to be "start"');
  let checker: Promise<Checker> | undefined;
  // Starts the checker lazily: bundling does not need it, and it takes ten times the memory of the rest and half of the
  // startup time.
  const getChecker = (): Promise<Checker> => (checker ??= startChecker(start.agentTypes));
  take = (message) => {
    if (!isToProcess(message)) throw new Error('A message of unknown shape');
    void receive(getChecker, message);
  };
  void beginEmitter();
};
const channel = openServerChannel(
  (message) => take(message),
  () => process.exit(0),
);

async function beginEmitter(): Promise<void> {
  // Starts the emitter now instead of at its first use.
  await transform('');
  reportProcesses();
}

async function startChecker(agentTypes: string): Promise<Checker> {
  const { Checker } = await import('./checker.ts');
  const checker = new Checker(agentTypes);
  reportProcesses();
  return checker;
}

type GetChecker = () => Promise<Checker>;

async function receive(getChecker: GetChecker, message: ToProcess): Promise<void> {
  if (message.kind === 'content') takeContent(message.path, message.content);
  else if (message.kind === 'bundle') send(await bundleModules(getChecker, message));
  // All other messages wait for the checker first, so they keep their order.
  else await receiveFor(await getChecker(), message);
}

async function receiveFor(checker: Checker, message: ToProcess): Promise<void> {
  if (message.kind === 'files') takeFiles(checker, message);
  else if (message.kind === 'forget') forget(checker, message.root);
  else if (message.kind === 'check') {
    const problems = tooDeep.list(message.root, message.path);
    const { errors, warnings, ...checked } =
      problems.length > 0 ? refused(problems) : await check(checker, message);
    send({ ...checked, errors: limitLines(errors), warnings: limitLines(warnings) });
  } else if (message.kind === 'assist') {
    const isRefused = tooDeep.list(message.root, message.path).length > 0;
    send({ kind: 'assisted', ...(isRefused ? noAssistance : checker.assist(message)) });
  } else if (message.kind === 'add signs') {
    const { addSigns } = await import('./signs/add-signs.ts');
    send(addSigns(checker, message));
  }
}

const noAssistance = { ...nothingFound, wanted: [] };

const refused = (errors: string[]): CheckedMessage => ({
  kind: 'checked',
  errors,
  outputs: [],
  wanted: [],
  warnings: [],
});

/** Passes files to the checker. Withholds the content of files that are nested too deeply; checks report those. */
function takeFiles(checker: Checker, { root, set, removed }: FilesMessage): void {
  checker.change(root, {
    set: set.map(([path, content]) => [
      path,
      content !== null && tooDeep.note(root, path, content) ? '' : content,
    ]),
    removed,
  });
  for (const path of removed) tooDeep.drop(root, path);
}

function forget(checker: Checker, root: string): void {
  checker.forget(root);
  tooDeep.forget(root);
}

async function bundleModules(
  getChecker: GetChecker,
  { of, paths, settings, given }: BundleMessage,
): Promise<FromProcess> {
  const known = new Map(given);
  const read = async (path: string): Promise<string | null> => known.get(path) ?? askContent(path);
  const problems: string[] = [];
  const readShallow = async (path: string): Promise<string | null> => {
    const content = await read(path);
    const problem = content === null ? undefined : findNestingProblem(path, content);
    if (problem !== undefined) problems.push(problem);
    return problem === undefined ? content : '';
  };
  const result = await bundle({ of, paths: new Set(paths), settings, read: readShallow });
  if (problems.length > 0) return { kind: 'bundled', errors: limitLines(problems), code: '', sourceMap: '' };
  if (result.ok) return { kind: 'bundled', errors: [], code: result.code, sourceMap: result.sourceMap };
  // Project files were checked when they were written. For direct code, the checker lists all syntax errors, because
  // the bundler stops at the first one.
  const [path = ''] = paths;
  const lines = of === 'project' ? [] : syntaxLines(await getChecker(), path, (await read(path)) ?? '');
  const errors = limitLines(lines.length > 0 ? lines : result.errors);
  return { kind: 'bundled', errors, code: '', sourceMap: '' };
}

async function askContent(path: string): Promise<string | null> {
  return new Promise((resolve) => {
    reads.set(path, resolve);
    send({ kind: 'read', path });
  });
}

function takeContent(path: string, content: string | null): void {
  reads.get(path)?.(content);
  reads.delete(path);
}

function send(message: FromProcess): void {
  channel.send(message);
}
