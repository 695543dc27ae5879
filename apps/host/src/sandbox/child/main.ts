import type { SandboxCommand, SandboxStart } from '@phalanx/protocol';
import type ivm from 'isolated-vm';

import { openHostChannel } from './host-channel.ts';
import { createIsolateEntry } from './isolate-entry.ts';
import { Run } from './run.ts';

type Job = Extract<SandboxCommand, { type: 'job' }>;

/**
 * Runs the program of a child: prepares the isolate and takes one job. The host kills the child when the job has ended.
 */
export async function main(boot: SandboxStart, loadModule: NodeJS.Require): Promise<void> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the path is that of isolated-vm's package
  const lib = loadModule(boot.isolatedVmPath) as typeof ivm;
  let run: Run | undefined;
  const channel = openHostChannel((command) => {
    if (command.type === 'job') void load(command);
    else if (command.type === 'begin') void loaded.promise.then(() => run?.begin());
    else if (command.type === 'stop') stop();
    else run?.finishCall(command.id, command.result);
  });
  const loaded = Promise.withResolvers<void>();
  const isolateReady = createIsolateEntry(lib, boot, {
    ask: (name, json, body) => answered(() => run?.ask(name, json, body)),
    block: async (name, ...texts) => run?.block(name, texts).catch(() => {}),
  });

  /** Loads the job, which may arrive before the isolate is ready. */
  async function load(job: Job): Promise<void> {
    const isolate = await isolateReady;
    run = new Run(job, { channel, isolate, memoryMb: boot.memoryMb });
    await isolate.load(job.code).catch((error: unknown) => run?.fail(error));
    channel.send({ type: 'loaded' });
    loaded.resolve();
  }
  function stop(): void {
    if (run === undefined) channel.send({ type: 'ended', outcome: 'stopped', error: null });
    else run.end({ outcome: 'stopped' });
  }
  await isolateReady;
  channel.send({ type: 'ready' });
}

/** Replaces errors of this process, because their stacks name files of this machine and must not reach the isolate. */
function answered<T>(ask: () => T): T | string {
  try {
    return ask();
  } catch {
    return 'The request was not understood.';
  }
}
