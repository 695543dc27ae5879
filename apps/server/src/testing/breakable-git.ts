import { chmodSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { findProgram } from './find-program.ts';

/** The git of this machine behind a program that can be told to fail, in a folder for the PATH. */
export class BreakableGit {
  readonly folder: string;

  constructor(folder: string) {
    this.folder = folder;
    mkdirSync(folder, { recursive: true });
    const failing = path.join(folder, 'failing');
    writeFileSync(
      path.join(folder, 'git'),
      `#!/bin/sh\nif [ -e '${failing}' ] && grep -qxE "$1|everything" '${failing}'; then echo 'broken' >&2; exit 128; fi\nexec '${findProgram('git')}' "$@"\n`,
    );
    chmodSync(path.join(folder, 'git'), 0o755);
    // What the script and git's hooks need.
    for (const name of ['grep', 'cat']) symlinkSync(findProgram(name), path.join(folder, name));
  }

  /** Every start of the command (`everything`: of any) ends with an error. */
  fail(command: string): void {
    writeFileSync(path.join(this.folder, 'failing'), `${command}\n`);
  }

  remove(): void {
    renameSync(path.join(this.folder, 'git'), path.join(this.folder, 'git.removed'));
  }

  mend(): void {
    rmSync(path.join(this.folder, 'failing'), { force: true });
  }

  putBack(): void {
    renameSync(path.join(this.folder, 'git.removed'), path.join(this.folder, 'git'));
  }
}
