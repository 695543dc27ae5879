// A compile process: one checker with warm projects, and the emitter. It leads a process group, so that it can be
// killed with all that it started.
import { subscribe } from 'node:diagnostics_channel';
import { ChildProcess } from 'node:child_process';
import { Worker } from 'node:worker_threads';

import { transform } from 'esbuild';

import { limitLines } from '../error-lines.ts';
import { bundle } from './bundle.ts';
import { check } from './check.ts';
import { Checker } from './checker.ts';
import { isToProcess, type BundleMessage, type FromProcess, type ToProcess } from './messages.ts';

const processIds: number[] = [process.pid];
subscribe('child_process', (message) => {
  if (typeof message !== 'object' || message === null || !('process' in message)) return;
  const { process: child } = message;
  if (!(child instanceof ChildProcess)) return;
  // Without the emitter, as without the checker, there is nothing left to do.
  child.once('exit', () => process.exit(1));
  child.once('spawn', () => processIds.push(Number(child.pid)));
});

const watchdog = new Worker(new URL('watchdog.ts', import.meta.url));
watchdog.unref();
const reads = new Map<string, (content: string | null) => void>();

process.on('disconnect', () => process.exit(0));
process.once('message', (start) => {
  if (!isToProcess(start) || start.kind !== 'start') throw new Error('The first message has to be "start"');
  void serve(new Checker(start.agentTypes));
});

/** Ready when the emitter runs too. */
async function serve(checker: Checker): Promise<void> {
  process.on('message', (message) => {
    if (!isToProcess(message)) throw new Error('A message of unknown shape');
    void receive(checker, message);
  });
  await transform('');
  send({ kind: 'ready', processIds });
}

async function receive(checker: Checker, message: ToProcess): Promise<void> {
  if (message.kind === 'files') checker.change(message.root, message);
  else if (message.kind === 'forget') checker.forget(message.root);
  else if (message.kind === 'content') takeContent(message.path, message.content);
  else if (message.kind === 'check') {
    const checked = await check(checker, message);
    send({ ...checked, errors: limitLines(checked.errors) });
  } else if (message.kind === 'bundle') send(await bundleProject(message));
}

async function bundleProject({ paths, settings }: BundleMessage): Promise<FromProcess> {
  const result = await bundle({ paths: new Set(paths), settings, read });
  return result.ok
    ? { kind: 'bundled', errors: [], code: result.code, sourceMap: result.sourceMap }
    : { kind: 'bundled', errors: limitLines(result.errors), code: '', sourceMap: '' };
}

async function read(path: string): Promise<string | null> {
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
