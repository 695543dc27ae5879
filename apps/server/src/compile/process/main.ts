// A compile process: one checker with warm projects, and the emitter. It leads a process group, so that it can be
// killed with all that it started.
import { subscribe } from 'node:diagnostics_channel';
import { ChildProcess } from 'node:child_process';
import { Worker } from 'node:worker_threads';

import { transform } from 'esbuild';

import { limitLines } from '../error-lines.ts';
import { bundle } from './bundle.ts';
import { check, syntaxLines } from './check.ts';
import { Checker } from './checker.ts';
import { isToProcess, type BundleMessage, type FromProcess, type ToProcess } from './messages.ts';

const children: ChildProcess[] = [];
subscribe('child_process', (message) => {
  if (typeof message !== 'object' || message === null || !('process' in message)) return;
  const { process: child } = message;
  if (!(child instanceof ChildProcess)) return;
  // Without the emitter, as without the checker, there is nothing left to do.
  child.once('exit', () => process.exit(1));
  children.push(child);
});

/** At once after a start: the checker may block this thread from now on. */
function tellProcesses(): void {
  const started = children.flatMap(({ pid }) => pid ?? []);
  send({ kind: 'processes', processIds: [process.pid, ...started] });
}

/** The server says its own ID: it may have died before this process could have asked who started it. */
const serverId = Number(process.argv[2]);
const watchdog = new Worker(new URL('watchdog.ts', import.meta.url), { workerData: serverId });
watchdog.unref();
const reads = new Map<string, (content: string | null) => void>();

process.on('disconnect', () => process.exit(0));
process.once('message', (start) => {
  if (!isToProcess(start) || start.kind !== 'start') throw new Error('The first message has to be "start"');
  let checker: Checker | undefined;
  // Bundling needs none, and it takes ten times the memory of everything else.
  const getChecker = (): Checker => {
    if (checker !== undefined) return checker;
    checker = new Checker(start.agentTypes);
    tellProcesses();
    return checker;
  };
  void serve(getChecker);
});

async function serve(getChecker: () => Checker): Promise<void> {
  process.on('message', (message) => {
    if (!isToProcess(message)) throw new Error('A message of unknown shape');
    void receive(getChecker, message);
  });
  // The emitter starts with the first work for it; let that be now.
  await transform('');
  tellProcesses();
}

async function receive(getChecker: () => Checker, message: ToProcess): Promise<void> {
  if (message.kind === 'files') getChecker().change(message.root, message);
  else if (message.kind === 'forget') getChecker().forget(message.root);
  else if (message.kind === 'content') takeContent(message.path, message.content);
  else if (message.kind === 'check') {
    const { errors, warnings, ...checked } = await check(getChecker(), message);
    send({ ...checked, errors: limitLines(errors), warnings: limitLines(warnings) });
  } else if (message.kind === 'assist') send({ kind: 'assisted', ...getChecker().assist(message) });
  else if (message.kind === 'bundle') send(await bundleModules(getChecker, message));
}

async function bundleModules(
  getChecker: () => Checker,
  { of, paths, settings, given }: BundleMessage,
): Promise<FromProcess> {
  const known = new Map(given);
  const read = async (path: string): Promise<string | null> => known.get(path) ?? askContent(path);
  const result = await bundle({ of, paths: new Set(paths), settings, read });
  if (result.ok) return { kind: 'bundled', errors: [], code: result.code, sourceMap: result.sourceMap };
  // The files of projects were checked when they were written; the bundler stops at the first mistake of syntax.
  const [path = ''] = paths;
  const lines = of === 'project' ? [] : syntaxLines(getChecker(), path, (await read(path)) ?? '');
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

/** Without a channel the server is gone. */
function send(message: FromProcess): void {
  process.send?.(message);
}
