import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { totalmem } from 'node:os';
import path from 'node:path';

import { nodeFiles, launcherOptions, lifeOptions, type Offers, type Policy } from './policy.ts';

/** Program and its arguments, as `spawn` takes them. */
export interface Start {
  readonly program: string;
  readonly args: readonly string[];
  /** Set when the program creates its own process group. Otherwise `spawn` has to detach it. */
  readonly makesGroup?: boolean;
}

/** Confinement of programs that process user input. */
export interface Confinement {
  /** Whether the kernel enforces the policy of confined programs. */
  readonly holds: boolean;
  /** Sentence for the operator: what protects this machine, or what is missing and what to do. */
  readonly description: string;
  /**
   * Returns the program to start instead of `start`, so that it runs under `policy` as far as this machine can enforce
   * it.
   */
  wrap(start: Start, policy: Policy): Start;
}

export interface ConfinementOptions {
  /** Path of the launcher, for tests. Default: the one of this package for this architecture. */
  launcher?: string;
}

const run = promisify(execFile);
const tryOutMs = 10_000;

/** Actions that the kernel must deny to a confined Node, by name. The script prints those that were not denied. */
const forbidden = `
const reached = [];
const attempt = (name, act) => { try { act(); reached.push(name); } catch {} };
attempt('files', () => require('node:fs').readdirSync('/'));
attempt('other processes', () => process.kill(process.ppid, 0));
attempt('new processes', () => require('node:child_process').execFileSync(process.execPath, ['--version']));
const socket = require('node:net').connect({ host: '127.0.0.1', port: 9 });
socket.on('connect', () => reached.push('sockets'));
socket.on('error', ({ code }) => {
  if (code !== 'EPERM' && code !== 'EACCES') reached.push('sockets');
  console.log(reached.join(', '));
});
`;

let ofThisMachine: Promise<Confinement> | undefined;

/**
 * Determines by a test run how this machine can confine programs; once per process. Never throws: a machine without
 * confinement says so in `description`.
 */
export async function openConfinement(options: ConfinementOptions = {}): Promise<Confinement> {
  if (options.launcher !== undefined) return tryLauncher(options);
  return (ofThisMachine ??= tryLauncher(options));
}

/**
 * Returns the program to start instead of `start`, so that it ends with this process and has a lower priority. Nothing
 * else changes.
 */
export function endingWithCaller(start: Start): Start {
  const launcher = launcherOfThisMachine();
  return launcher === undefined ? start : unconfinedBy(launcher, start);
}

export const launcherOfThisMachine = (): string | undefined => launcherFor(process.platform, process.arch);

async function tryLauncher(options: ConfinementOptions): Promise<Confinement> {
  const launcher = options.launcher ?? launcherOfThisMachine();
  if (launcher === undefined) {
    return unconfined(`there is no launcher for ${process.platform} on ${process.arch}`);
  }
  try {
    const { stdout } = await run(launcher, ['--probe'], { timeout: tryOutMs });
    const abi = Number(/landlock=(\d)/.exec(stdout)?.[1] ?? 0);
    if (abi === 0) return unconfined('this kernel has no Landlock (Linux 5.13 or newer has it)', launcher);
    const offers = { emptyNetwork: stdout.includes('network=1'), ownRoot: stdout.includes('root=1') };
    const reached = await tryOut(wrapWith(launcher, offers));
    if (reached !== '') return unconfined(`a confined program still reached: ${reached}`, launcher);
    const group = await openMemoryGroup();
    const all = { ...offers, ...(group.kind === 'limited' && { groupFile: group.procs }) };
    return { holds: true, description: describe(abi, offers, group), wrap: wrapWith(launcher, all) };
  } catch (error) {
    return unconfined(firstLine(error));
  }
}

/** Returns the path of the prebuilt launcher, a static program for each architecture. */
function launcherFor(platform: string, architecture: string): string | undefined {
  if (platform !== 'linux' || !['x64', 'arm64'].includes(architecture)) return undefined;
  return fileURLToPath(new URL(`../native/confine-linux-${architecture}`, import.meta.url));
}

const wrapWith =
  (launcher: string, offers: Offers): Confinement['wrap'] =>
  ({ program, args }, policy) => ({
    program: launcher,
    args: [...launcherOptions(policy, offers), '--', program, ...args],
    makesGroup: true,
  });

const unconfinedBy = (launcher: string, { program, args }: Start): Start => ({
  program: launcher,
  args: ['--unconfined', ...lifeOptions(), '--', program, ...args],
  makesGroup: true,
});

async function tryOut(wrap: Confinement['wrap']): Promise<string> {
  const start = { program: process.execPath, args: ['--eval', forbidden] };
  const { program, args } = wrap(start, { ...nodeFiles(), emptyNetwork: true, ownRoot: true });
  const { stdout } = await run(program, args, { env: { OPENSSL_CONF: '/dev/null' }, timeout: tryOutMs });
  return stdout.trim();
}

function describe(abi: number, { emptyNetwork, ownRoot }: Offers, group: MemoryGroup): string {
  const signals = abi >= 6 ? '' : ' (signals by seccomp alone: Linux 6.12 or newer has both)';
  const network = emptyNetwork ? 'no network (an empty one of its own)' : 'no network (by seccomp alone)';
  const files = ownRoot
    ? 'no files (a root of its own)'
    : 'no files (their names, sizes and times can be seen)';
  return `User code is confined by Landlock ${abi} and seccomp${signals}: ${files}, ${network}, no other processes. ${describeMemory(group)}`;
}

const describeMemory = (group: MemoryGroup): string =>
  group.kind === 'limited'
    ? `All confined processes together get at most ${Math.floor(group.maxBytes / 2 ** 20)} MB of memory, by their cgroup.`
    : `Memory is limited for each process, not for all together: ${group.reason}.`;

const unconfined = (reason: string, launcher?: string): Confinement => ({
  holds: false,
  description: `User code is NOT confined by the operating system: ${reason}. Its isolate and Node's permission model stand alone; run only code that you trust, or give Phalanx a machine or container of its own.`,
  wrap: (start) => (launcher === undefined ? start : unconfinedBy(launcher, start)),
});

const firstLine = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).split('\n').slice(0, 2).join(' ').slice(0, 300);

/** Control group (cgroup v2) for all confined processes together, or the reason why there is none. */
type MemoryGroup =
  | { readonly kind: 'limited'; readonly procs: string; readonly maxBytes: number }
  | { readonly kind: 'none'; readonly reason: string };

/** Paths at which the kernel describes cgroups. Tests use their own. */
interface GroupPlaces {
  /** `/proc/self` */
  readonly self: string;
  readonly processId: number;
}

/**
 * Share of the memory for confined processes. The rest is for the service itself: when the group is full, the kernel
 * kills its largest process, never the service.
 */
const shareOfMemory = 0.75;
/**
 * Group of the service itself. The kernel enables controllers only for the children of groups without own processes, so
 * the service also needs a group.
 */
const serviceGroup = 'phalanx-service';
const confinedGroup = 'phalanx-confined';

/**
 * Creates the group below the current one of this process, if that is delegated to it (systemd: `Delegate=memory`).
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

/**
 * Returns the delegated group. After a repeated start, such as after dropping root, the process is already in the group
 * of the service.
 */
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
  // Without this limit, a memory bomb first fills the swap. The file is missing when the kernel does not account for
  // swap.
  await writeFile(path.join(group, 'memory.swap.max'), '0', { flag: 'r+' }).catch(() => undefined);
  return { kind: 'limited', procs: path.join(group, 'cgroup.procs'), maxBytes };
}

/** Returns the memory of this machine, or of the service if its cgroup limits it, in bytes. */
async function memoryOf(base: string): Promise<number> {
  const text = await readFile(path.join(base, 'memory.max'), 'utf8').catch(() => 'max');
  const limited = Number(text.trim());
  return Number.isFinite(limited) ? Math.min(limited, totalmem()) : totalmem();
}

const errorCode = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : String(error);
