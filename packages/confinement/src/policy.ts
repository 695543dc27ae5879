import { readFileSync } from 'node:fs';
import { basename, isAbsolute } from 'node:path';

/**
 * Permissions that a confined program keeps. Everything that is not named is given up, for it and for all that
 * it starts.
 */
export interface Policy {
  /** Files, and folders with all below them. A path that does not exist is left out. */
  readonly readable: readonly string[];
  /** Readable, and executable. */
  readonly runnable: readonly string[];
  /** Readable, writable, and new files may be made below them. */
  readonly writable?: readonly string[];
  /** Whether sockets can be made: the network, and services of this machine. Default false. */
  readonly sockets?: boolean;
  /** Whether other processes can be started. Default false. */
  readonly processes?: boolean;
  /** Whether it gets an empty network of its own, where this machine has that: 3 ms more at its start. Default false. */
  readonly emptyNetwork?: boolean;
  /**
   * Whether nothing but the files above exists for it, where this machine has mount namespaces: 2 ms more at its start.
   * Landlock alone refuses contents, and leaves names, sizes and times. Default false.
   */
  readonly ownRoot?: boolean;
  /** Its nice value, counted from that of the caller; each step is a quarter less of a processor that is contended. Default 5. */
  readonly nice?: number;
  /** Memory that may be written to, for each process. No limit by default. */
  readonly maxDataBytes?: number;
  /** Processor time, for each process. No limit by default. */
  readonly maxCpuSeconds?: number;
  /** Size of a file that it writes. No limit by default. */
  readonly maxFileBytes?: number;
  readonly maxOpenFiles?: number;
  /** Descriptors beyond 0, 1 and 2 that it inherits. */
  readonly keptDescriptors?: readonly number[];
}

/** Means of confinement on this machine beyond Landlock and seccomp. */
export interface Offers {
  readonly emptyNetwork: boolean;
  readonly ownRoot: boolean;
  /** The `cgroup.procs` of the group that limits the memory of all confined processes together. */
  readonly groupFile?: string;
}

/** The options of the launcher (`native/confine.c`) for a policy. */
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

/** Users' work weighs less than the service, from its start. */
const defaultNice = 5;

/** Options for every program that is started, confined or not: its priority, and that it ends with this process. */
export const lifeOptions = (nice = defaultNice): string[] => [
  ...option('--nice', nice),
  ...option('--parent', process.pid),
  ...(firstProcessIsNode() ? ['--no-watcher'] : []),
];

/** The same for a program that another process starts in the place of this one. */
export const withParent = (args: readonly string[], pid: number): string[] => {
  const at = args.indexOf('--parent');
  return at === -1 || args.indexOf('--') < at ? [...args] : args.with(at + 1, String(pid));
};

let isNodeFirst: boolean | undefined;

/**
 * In a container without an init, Node as its first process never reaps the watcher of a program that has ended. All
 * processes of the container end with the first one anyway.
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
 * Files that this Node itself needs to start again: its program, its libraries, and the few files that they
 * read. Found once, because the report that lists the libraries blocks the thread for some milliseconds.
 */
export function nodeFiles(): NodeFiles {
  return (found ??= findNodeFiles());
}

function findNodeFiles(): NodeFiles {
  const libraries = sharedObjects();
  return {
    readable: [...libraries, '/etc/ld.so.cache', '/dev/null', '/dev/urandom', '/proc/self'],
    // The kernel executes the loader of the libraries, too.
    runnable: [process.execPath, ...libraries.filter((file) => basename(file).startsWith('ld'))],
  };
}

function sharedObjects(): string[] {
  // Without it the report looks up the names of all open connections. Missing in the types of Node 24.
  Object.assign(process.report, { excludeNetwork: true });
  const report: object = process.report.getReport();
  const listed: unknown = 'sharedObjects' in report ? report.sharedObjects : [];
  const files = Array.isArray(listed) ? listed.filter((file) => typeof file === 'string') : [];
  return files.filter((file) => isAbsolute(file) && !file.endsWith('.node'));
}
