import { launcherOfThisMachine, openConfinement, type Start } from './confinement.ts';
import { withParent } from './policy.ts';
import { startDirectly, type StartedProcess, type StartOptions } from './started-process.ts';
import { Starter, StarterEnded } from './starter.ts';

let opening: Promise<Starter | undefined> | undefined;

/**
 * Starts a program; one that the launcher begins (`Confinement.wrap`, `endingWithCaller`) without keeping the event loop.
 * Rejects with the system's error when it can't be started.
 */
export async function startProcess(start: Start, options: StartOptions): Promise<StartedProcess> {
  const starter = start.makesGroup === true ? await findStarter() : undefined;
  const { pid } = starter ?? {};
  if (starter === undefined || pid === undefined) return startDirectly(start, options);
  try {
    return await starter.start({ ...start, args: withParent(start.args, pid) }, options);
  } catch (error) {
    if (error instanceof StarterEnded) return startDirectly(start, options);
    throw error;
  }
}

async function findStarter(): Promise<Starter | undefined> {
  const starter = await (opening ??= openStarter());
  if (starter?.hasEnded !== true) return starter;
  opening = undefined;
  return findStarter();
}

/** Nothing where there is no launcher for the machine. */
async function openStarter(): Promise<Starter | undefined> {
  const launcher = launcherOfThisMachine();
  // It moves this process to another control group, and the starter has to be in that one.
  await openConfinement();
  return launcher === undefined ? undefined : Starter.open(launcher).catch(() => undefined);
}
