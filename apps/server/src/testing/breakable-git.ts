import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, renameSync, symlinkSync, writeFileSync, existsSync } from 'node:fs';
import path from 'node:path';

/** The git of this machine behind a program that can be told to fail, in a folder for the PATH. */
export class BreakableGit {
  readonly folder: string;

  constructor(folder: string) {
    this.folder = folder;
    mkdirSync(folder, { recursive: true });
    this.mend();
    // Git's hooks use it.
    symlinkSync(findProgram('cat'), path.join(folder, 'cat'));
  }

  /** Every start of the command (`everything`: of any) ends with an error. */
  fail(command: string): void {
    this.#write(command === 'everything' ? '*' : command);
  }

  remove(): void {
    renameSync(path.join(this.folder, 'git'), path.join(this.folder, 'git.removed'));
  }

  mend(): void {
    this.#write('nothing');
  }

  /** Uses the git beside git's commands: the service lets git reach that one, and not the one in the PATH. */
  #write(failing: string): void {
    const program = path.join(execFileSync('git', ['--exec-path'], { encoding: 'utf8' }).trim(), 'git');
    const fails = `case $1 in ${failing}) echo broken >&2; exit 128;; esac`;
    writeFileSync(path.join(this.folder, 'git'), `#!/bin/sh\n${fails}\nexec '${program}' "$@"\n`);
    chmodSync(path.join(this.folder, 'git'), 0o755);
  }

  putBack(): void {
    renameSync(path.join(this.folder, 'git.removed'), path.join(this.folder, 'git'));
  }
}

/** Finds the file of the program in the PATH. */
function findProgram(name: string): string {
  const folders = (process.env['PATH'] ?? '').split(path.delimiter);
  const found = folders.map((folder) => path.join(folder, name)).find((file) => existsSync(file));
  if (found === undefined) throw new Error(`${name} is not in the PATH`);
  return found;
}
