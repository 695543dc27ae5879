import { mkdir, rm, writeFile, access, constants } from 'node:fs/promises';
import path from 'node:path';
import {
  type Confinement,
  openConfinement,
  endingWithCaller,
  nodeFiles,
  type Policy,
} from '@phalanx/confinement';
import { SettingError } from '@phalanx/settings';
import { findFault, gitFailed, PartFailed } from '../../kernel/faults/fault-monitor.ts';
import { maxPushBytes, type GitProgram, runGit } from './git-process.ts';

/** Minimum version. `cat-file --batch-command` came with 2.36, checks of attributes and safer clones with 2.38.3. */
const minVersion = [2, 38] as const;

/**
 * Memory limit of a command. Measured: a push of 49 MB files that are deltas of each other takes 64 to 128 MB. A
 * command that needs this much more is an attack.
 */
const defaultMaxDataBytes = 1024 * 1024 * 1024;
/**
 * CPU time limit of one command. Long-running commands that reach it are restarted. Packing the largest projects takes
 * minutes.
 */
const maxCpuSeconds = 30 * 60;
/** Maximum size of a written file, such as the pack of a project with its history. */
const maxFileBytes = 64 * maxPushBytes;

/** Folders with shared libraries on Linux systems. */
const libraryFolders = [
  '/lib',
  '/lib64',
  '/usr/lib',
  '/usr/lib64',
  '/usr/local/lib',
  '/nix/store',
  '/gnu/store',
];

const quoted = (text: string): string => `"${text.replaceAll('\\', '\\\\').replaceAll('"', String.raw`\"`)}"`;

/**
 * Returns the git configuration. `fsync = none`: repositories are a cache. `unpackLimit`: a push arrives as one pack,
 * which is stored in the log. `procReceiveRefs`: the server moves all branches and tags. `bigFileThreshold` keeps git
 * from holding several large files in memory for deltas.
 */
const configuration = (hooksFolder: string): string => `[safe]
	directory = *
[core]
	fsync = none
	hooksPath = ${quoted(hooksFolder)}
	bigFileThreshold = 4m
	logAllRefUpdates = false
	filesRefLockTimeout = 5000
	packedRefsTimeout = 5000
	protectHFS = true
	protectNTFS = true
[init]
	defaultBranch = main
[transfer]
	fsckObjects = true
[receive]
	autogc = false
	maxInputSize = ${maxPushBytes}
	unpackLimit = 1
	procReceiveRefs = refs/heads
	procReceiveRefs = refs/tags
[gc]
	auto = 0
[maintenance]
	auto = false
[pack]
	threads = 1
	windowMemory = 64m
`;

/**
 * Hooks of a push. Both hand over to the server through the file descriptors 3 and 4, which the server opened for them.
 * No content of a project is ever executed. The first hook sends the pushed refs and prints the lines of the reply. The
 * reply may arrive before the hook has sent everything: the server then stops reading, and SIGPIPE must not end the
 * hook. The second hook passes git's own protocol through.
 */
const hooks = {
  'pre-receive': `#!/bin/sh
trap '' PIPE
{ printf '%s\\n' "$GIT_QUARANTINE_PATH"; cat; echo; } >&3 2>/dev/null
while IFS= read -r line <&4; do
  case $line in
    accepted) exit 0 ;;
    refused) exit 1 ;;
    *) printf '%s\\n' "\${line#-}" ;;
  esac
done
echo 'The service stopped in the middle of this push: push again.'
exit 1
`,
  'proc-receive': `#!/bin/sh
exec 5<&0
cat <&5 >&3 &
exec cat <&4
`,
} as const;

async function writeHooks(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  for (const [name, script] of Object.entries(hooks))
    await writeFile(path.join(folder, name), script, { mode: 0o700 });
}

/** Throws `PartFailed` when even `git version` fails. */
export async function probeGit(git: GitProgram): Promise<void> {
  await runGit(git, ['version'], {}).catch((error: unknown) => {
    throw error instanceof PartFailed ? error : gitFailed(error);
  });
}

async function requireVersion(git: GitProgram): Promise<void> {
  const found = await runGit(git, ['version'], {}).then(
    ({ stdout }) => /(\d+)\.(\d+)/.exec(stdout.toString()),
    (error: unknown) => {
      throw unusable(`cannot be used, ${findFault(error)?.reason ?? 'it ends with errors'}`, error);
    },
  );
  const [minMajor, minMinor] = minVersion;
  const [major, minor] = [Number(found?.[1] ?? 0), Number(found?.[2] ?? 0)];
  if (major > minMajor || (major === minMajor && minor >= minMinor)) return;
  throw unusable(`${major}.${minor} is too old`);
}

const unusable = (problem: string, cause?: unknown): SettingError =>
  new SettingError(`git ${problem}: projects need git ${minVersion.join('.')} or newer in the PATH.`, {
    cause,
  });

interface Holding {
  /** Default: the confinement that this machine offers. */
  readonly confinement?: Confinement;
  /** Memory of one command, in bytes. Default 1 GiB. */
  readonly maxDataBytes?: number;
}

/** Writes git's configuration and hooks into `folder`. Throws a `SettingError` when there is no usable git. */
export async function prepareGit(
  folder: string,
  searchPath: string,
  { confinement, maxDataBytes = defaultMaxDataBytes }: Holding = {},
): Promise<GitProgram> {
  const stagingFolder = path.join(folder, 'staging');
  const hooksFolder = path.join(folder, 'hooks');
  const configFile = path.join(folder, 'config');
  await rm(stagingFolder, { recursive: true, force: true });
  await mkdir(stagingFolder, { recursive: true, mode: 0o700 });
  await writeHooks(hooksFolder);
  await writeFile(configFile, configuration(hooksFolder), { mode: 0o600 });
  const git: GitProgram = {
    start: (args) => ({ program: 'git', args }),
    unconfinedBecause: undefined,
    stagingFolder,
    environment: {
      PATH: searchPath,
      LC_ALL: 'C.UTF-8',
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_CONFIG_GLOBAL: configFile,
      GIT_ATTR_NOSYSTEM: '1',
      GIT_NO_REPLACE_OBJECTS: '1',
      GIT_TERMINAL_PROMPT: '0',
    },
  };
  await requireVersion(git);
  return confineGit(git, confinement ?? (await openConfinement()), { configFile, hooksFolder, maxDataBytes });
}

interface Own {
  readonly configFile: string;
  readonly hooksFolder: string;
  readonly maxDataBytes: number;
}

/**
 * Returns a git that the operating system confines to one repository at a time, the staging folder and its own
 * programs: no network, no other files, limited memory. Tries the confinement; if it does not work, returns the
 * unconfined git with the reason.
 */
async function confineGit(git: GitProgram, confinement: Confinement, own: Own): Promise<GitProgram> {
  if (!confinement.holds) return unconfined(git, confinement.description);
  try {
    const basis = await findBasis(git, own);
    const start: GitProgram['start'] = (args, gitDir, limits = { maxCpuSeconds }) =>
      confinement.wrap(
        { program: basis.program, args },
        { ...policyFor(basis, git.stagingFolder, gitDir), maxDataBytes: own.maxDataBytes, ...limits },
      );
    const confined = { ...git, start };
    await tryOut(confined);
    return confined;
  } catch (error) {
    return unconfined(git, `git does not work confined: ${String(error)}`);
  }
}

const unconfined = (git: GitProgram, unconfinedBecause: string): GitProgram => ({
  ...git,
  start: (args, gitDir) => endingWithCaller(git.start(args, gitDir)),
  unconfinedBecause,
});

interface Basis {
  readonly program: string;
  readonly readable: readonly string[];
  readonly runnable: readonly string[];
}

async function findBasis(git: GitProgram, { configFile, hooksFolder }: Own): Promise<Basis> {
  const { stdout } = await runGit(git, ['--exec-path'], {});
  const programs = stdout.toString().trim();
  const [program = 'git', cat = ''] = await Promise.all(['git', 'cat'].map((name) => find(git, name)));
  const node = nodeFiles();
  // The hooks are shell scripts.
  const runnable = [program, programs, path.join(programs, 'git'), hooksFolder, '/bin/sh', cat];
  const readable = [...node.readable, ...libraryFolders, configFile];
  return { program, readable, runnable: [...node.runnable, ...runnable] };
}

async function find({ environment }: GitProgram, name: string): Promise<string> {
  for (const folder of (environment['PATH'] ?? '').split(path.delimiter)) {
    const file = path.resolve(folder, name);
    const isThere = await access(file, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (isThere) return file;
  }
  throw new Error(`${name} is not in the PATH`);
}

const policyFor = (
  basis: Basis,
  stagingFolder: string,
  gitDir: string | undefined,
): Omit<Policy, 'maxDataBytes'> => ({
  readable: basis.readable,
  runnable: basis.runnable,
  writable: [stagingFolder, '/dev/null', ...(gitDir === undefined ? [] : [gitDir])],
  processes: true,
  // A push communicates with the server through these descriptors.
  keptDescriptors: [3, 4],
  maxCpuSeconds,
  maxFileBytes,
});

async function tryOut(git: GitProgram): Promise<void> {
  const gitDir = path.join(git.stagingFolder, 'tried');
  await mkdir(gitDir);
  await runGit(git, ['init', '--bare', '--quiet', '--template=', gitDir], { gitDir });
  await runGit(git, ['hash-object', '-w', '--stdin'], { gitDir, input: 'tried' });
  await rm(gitDir, { recursive: true });
}
