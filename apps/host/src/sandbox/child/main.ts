import type { SandboxCommand, SandboxStart } from '@phalanx/protocol';
import type ivm from 'isolated-vm';

import { openHostChannel } from './host-channel.ts';
import { createIsolateEntry } from './isolate-entry.ts';
import { Run } from './run.ts';

type Job = Extract<SandboxCommand, { type: 'job' }>;

/** The program of a child: makes the isolate ready, takes one job, and is killed by the host when it has ended. */
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

  /** The job may come before the isolate is ready. */
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

/** The isolate must not see an error of this process: its stack names files of this machine. */
function answered<T>(ask: () => T): T | string {
  try {
    return ask();
  } catch {
    return 'The request was not understood.';
  }
}
