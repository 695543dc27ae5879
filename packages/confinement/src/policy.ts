import { readFileSync } from 'node:fs';
import { basename, isAbsolute } from 'node:path';

/** Permissions that a confined program keeps. The program and its descendants lose everything that is not listed. */
export interface Policy {
  /** Readable files, and folders with all their contents. Missing paths are skipped. */
  readonly readable: readonly string[];
  /** Readable and executable files and folders. */
  readonly runnable: readonly string[];
  /** Readable and writable files and folders, in which new files may be created. */
  readonly writable?: readonly string[];
  /** Whether sockets can be created, for the network and for local services. Default false. */
  readonly sockets?: boolean;
  /** Whether other processes can be started. Default false. */
  readonly processes?: boolean;
  /**
   * Whether the program gets its own empty network where this machine supports that, which adds 3 ms to its start.
   * Default false.
   */
  readonly emptyNetwork?: boolean;
  /**
   * Whether only the files above exist for the program where this machine supports mount namespaces, which adds 2 ms to
   * its start. Landlock alone only protects contents, and leaves names, sizes and times visible. Default false.
   */
  readonly ownRoot?: boolean;
  /** Nice value relative to the caller. Each step reduces the share of a contended CPU by a quarter. Default 5. */
  readonly nice?: number;
  /** Maximum writable memory per process, in bytes. Default: no limit. */
  readonly maxDataBytes?: number;
  /** Maximum CPU time per process, in seconds. Default: no limit. */
  readonly maxCpuSeconds?: number;
  /** Maximum size of a written file, in bytes. Default: no limit. */
  readonly maxFileBytes?: number;
  readonly maxOpenFiles?: number;
  /** Inherited descriptors other than 0, 1 and 2. */
  readonly keptDescriptors?: readonly number[];
}

/** Features of this machine for confinement, in addition to Landlock and seccomp. */
export interface Offers {
  readonly emptyNetwork: boolean;
  readonly ownRoot: boolean;
  /** Path of `cgroup.procs` of the group that limits the memory of all confined processes together. */
  readonly groupFile?: string;
}

/** Returns the options of the launcher (`native/confine.c`) for a policy. */
export function launcherOptions(policy: Policy, offers: Offers): string[] {
  return [
    ...policy.readable.flatMap((path) => ['--read', path]),
    ...policy.runnable.flatMap((path) => ['--run', path]),
    ...(policy.writable ?? []).flatMap((path) => ['--write', path]),
    ...(policy.sockets === true ? [] : ['--no-sockets']),
    ...(policy.processes === true ? [] : ['--no-processes']),
    ...(policy.emptyNetwork === true && offers.emptyNetwork ? ['--empty-network'] : []),
    ...(policy.ownRoot === true && offers.ownRoot ? ['--own-root'] : []),
    ...lifeOptions(policy.nice),
    ...(offers.groupFile === undefined ? [] : ['--cgroup', offers.groupFile]),
    ...option('--data-bytes', policy.maxDataBytes),
    ...option('--cpu-seconds', policy.maxCpuSeconds),
    ...option('--file-bytes', policy.maxFileBytes),
    ...option('--files', policy.maxOpenFiles),
    ...(policy.keptDescriptors ?? []).flatMap((descriptor) => option('--keep', descriptor)),
  ];
}

/** Default nice value: users' work has a lower priority than the service from its start. */
const defaultNice = 5;

/**
 * Returns the options for every started program, confined or not: its priority, and its end together with this process.
 */
export const lifeOptions = (nice = defaultNice): string[] => [
  ...option('--nice', nice),
  ...option('--parent', process.pid),
  ...(firstProcessIsNode() ? ['--no-watcher'] : []),
];

/** Replaces the parent in the options, for a program that another process starts on behalf of this one. */
export const withParent = (args: readonly string[], pid: number): string[] => {
  const at = args.indexOf('--parent');
  return at === -1 || args.indexOf('--') < at ? [...args] : args.with(at + 1, String(pid));
};

let isNodeFirst: boolean | undefined;

/**
 * Whether the first process of the container is Node, which never reaps the watcher of an ended program. All processes
 * of the container end with the first one anyway.
 */
function firstProcessIsNode(): boolean {
  return (isNodeFirst ??= /^(\S*\/)?(node|npm)\b/.test(commandLineOfFirst()));
}

function commandLineOfFirst(): string {
  try {
    return readFileSync('/proc/1/cmdline', 'latin1').replaceAll('\0', ' ');
  } catch {
    return '';
  }
}

const option = (name: string, value: number | undefined): string[] =>
  value === undefined ? [] : [name, String(Math.floor(value))];

type NodeFiles = Pick<Policy, 'readable' | 'runnable'>;

let found: NodeFiles | undefined;

/**
 * Returns the files that this Node needs to start again: its program, its libraries, and the few files that they read.
 * The result is cached, because the report that lists the libraries blocks the thread for some milliseconds.
 */
export function nodeFiles(): NodeFiles {
  return (found ??= findNodeFiles());
}

function findNodeFiles(): NodeFiles {
  const libraries = sharedObjects();
  return {
    readable: [...libraries, '/etc/ld.so.cache', '/dev/null', '/dev/urandom', '/proc/self'],
    // The kernel also executes the loader of the libraries.
    runnable: [process.execPath, ...libraries.filter((file) => basename(file).startsWith('ld'))],
  };
}

function sharedObjects(): string[] {
  // Without this option, the report resolves the names of all open connections. It is missing in the types of Node 24.
  Object.assign(process.report, { excludeNetwork: true });
  const report: object = process.report.getReport();
  const listed: unknown = 'sharedObjects' in report ? report.sharedObjects : [];
  const files = Array.isArray(listed) ? listed.filter((file) => typeof file === 'string') : [];
  return files.filter((file) => isAbsolute(file) && !file.endsWith('.node'));
}
