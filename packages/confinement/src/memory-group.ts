import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { totalmem } from 'node:os';
import path from 'node:path';

/** A control group (cgroup v2) for all confined processes together, or why there is none. */
export type MemoryGroup =
  | { readonly kind: 'limited'; readonly procs: string; readonly maxBytes: number }
  | { readonly kind: 'none'; readonly reason: string };

/** Where the kernel tells of groups; a test has its own. */
export interface GroupPlaces {
  /** `/proc/self` */
  readonly self: string;
  readonly processId: number;
}

/** The rest is for the service itself: a full group ends the largest process in it, never the service. */
const shareOfMemory = 0.75;
/** The kernel gives controllers only to groups without processes of their own, so the service needs one, too. */
const serviceGroup = 'phalanx-service';
const confinedGroup = 'phalanx-confined';

/**
 * Makes the group below the one that this process is in, if that one is handed over to it (systemd: `Delegate=memory`).
 * Never throws.
 */
export async function openMemoryGroup(
  places: GroupPlaces = { self: '/proc/self', processId: process.pid },
): Promise<MemoryGroup> {
  try {
    const base = await findOwnGroup(places.self);
    if (base === undefined) return none('this machine has no cgroup v2');
    const controllers = await readFile(path.join(base, 'cgroup.controllers'), 'utf8');
    if (!controllers.split(/\s/).includes('memory')) return none('its cgroup can not limit memory');
    await moveInto(path.join(base, serviceGroup), places.processId);
    await writeFile(path.join(base, 'cgroup.subtree_control'), '+memory');
    return await limit(path.join(base, confinedGroup), await memoryOf(base));
  } catch (error) {
    return none(`its cgroup is not handed over (${errorCode(error)}; systemd: Delegate=memory)`);
  }
}

const none = (reason: string): MemoryGroup => ({ kind: 'none', reason });

/** A start after another one, as after giving up root, finds itself in the group of the service. */
async function findOwnGroup(self: string): Promise<string | undefined> {
  const own = /^0::(\/.*)$/m.exec(await readFile(path.join(self, 'cgroup'), 'utf8'))?.[1];
  const mount = /^\d+ \d+ \S+ (\S+) (\S+) .* - cgroup2 /m.exec(
    await readFile(path.join(self, 'mountinfo'), 'utf8'),
  );
  if (own === undefined || mount === null) return undefined;
  const [, root = '/', mountPoint = ''] = mount;
  const folder = path.join(mountPoint, path.relative(root, own));
  return path.basename(folder) === serviceGroup ? path.dirname(folder) : folder;
}

async function moveInto(group: string, processId: number): Promise<void> {
  await mkdir(group, { recursive: true });
  await writeFile(path.join(group, 'cgroup.procs'), String(processId));
}

async function limit(group: string, memoryBytes: number): Promise<MemoryGroup> {
  await mkdir(group, { recursive: true });
  const maxBytes = Math.floor(memoryBytes * shareOfMemory);
  await writeFile(path.join(group, 'memory.max'), String(maxBytes));
  // Without it a bomb fills the swap first. Missing where the kernel counts no swap.
  await writeFile(path.join(group, 'memory.swap.max'), '0', { flag: 'r+' }).catch(() => undefined);
  return { kind: 'limited', procs: path.join(group, 'cgroup.procs'), maxBytes };
}

/** What this machine has, or the service may have of it. */
async function memoryOf(base: string): Promise<number> {
  const text = await readFile(path.join(base, 'memory.max'), 'utf8').catch(() => 'max');
  const limited = Number(text.trim());
  return Number.isFinite(limited) ? Math.min(limited, totalmem()) : totalmem();
}

const errorCode = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : String(error);
