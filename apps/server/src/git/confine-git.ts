import { access, constants, mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { endingWithCaller, nodeFiles, type Confinement, type Policy } from '@phalanx/confinement';

import { maxPushBytes, type GitProgram } from './git-program.ts';
import { runGit } from './run-git.ts';

interface OwnFiles {
  readonly configFile: string;
  readonly hooksFolder: string;
}

/** Measured: a push of 49 MB files that are deltas of each other takes 64 to 128 MB. What asks for so much more is an attack. */
const maxDataBytes = 1024 * 1024 * 1024;
/** Of one command; those that are kept open are started again. Packing the largest projects takes minutes. */
const maxCpuSeconds = 30 * 60;
/** The pack of a project with its history. */
const maxFileBytes = 64 * maxPushBytes;

/** Where Linux systems have the libraries of programs. */
const libraryFolders = [
  '/lib',
  '/lib64',
  '/usr/lib',
  '/usr/lib64',
  '/usr/local/lib',
  '/nix/store',
  '/gnu/store',
];

/**
 * The same git, which the operating system holds to one repository at a time, the staging folder and its own programs:
 * no network, no other files, limited memory. It is tried; where it does not work, git stays as it is and says why.
 */
export async function confineGit(
  git: GitProgram,
  confinement: Confinement,
  own: OwnFiles,
): Promise<GitProgram> {
  if (!confinement.holds) return unconfined(git, confinement.description);
  try {
    const basis = await findBasis(git, own);
    const start: GitProgram['start'] = (args, gitDir, limits = { maxCpuSeconds }) =>
      confinement.wrap(
        { program: basis.program, args },
        { ...policyFor(basis, git.stagingFolder, gitDir), ...limits },
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

async function findBasis(git: GitProgram, { configFile, hooksFolder }: OwnFiles): Promise<Basis> {
  const { stdout } = await runGit(git, ['--exec-path'], {});
  const programs = stdout.toString().trim();
  const [program = 'git', cat = ''] = await Promise.all(['git', 'cat'].map((name) => find(git, name)));
  const node = nodeFiles();
  // The hooks are written for the shell.
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

const policyFor = (basis: Basis, stagingFolder: string, gitDir: string | undefined): Policy => ({
  readable: basis.readable,
  runnable: basis.runnable,
  writable: [stagingFolder, '/dev/null', ...(gitDir === undefined ? [] : [gitDir])],
  processes: true,
  // A push speaks with the server through them.
  keptDescriptors: [3, 4],
  maxDataBytes,
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
