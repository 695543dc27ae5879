/** What a confined program keeps. Everything that is not named is given up, for it and for all that it starts. */
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
  /** Memory that may be written to, for each process. No limit by default. */
  readonly maxDataBytes?: number;
  /** Size of a file that it writes. No limit by default. */
  readonly maxFileBytes?: number;
  readonly maxOpenFiles?: number;
  /** Descriptors beyond 0, 1 and 2 that it inherits. */
  readonly keptDescriptors?: readonly number[];
}

/** The options of the launcher (`native/confine.c`) for a policy. */
export function launcherOptions(policy: Policy): string[] {
  return [
    ...policy.readable.flatMap((path) => ['--read', path]),
    ...policy.runnable.flatMap((path) => ['--run', path]),
    ...(policy.writable ?? []).flatMap((path) => ['--write', path]),
    ...(policy.sockets === true ? [] : ['--no-sockets']),
    ...(policy.processes === true ? [] : ['--no-processes']),
    ...option('--data-bytes', policy.maxDataBytes),
    ...option('--file-bytes', policy.maxFileBytes),
    ...option('--files', policy.maxOpenFiles),
    ...(policy.keptDescriptors ?? []).flatMap((descriptor) => option('--keep', descriptor)),
  ];
}

const option = (name: string, value: number | undefined): string[] =>
  value === undefined ? [] : [name, String(Math.floor(value))];
