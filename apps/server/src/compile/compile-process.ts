import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { Confinement, Policy } from '@phalanx/confinement';

import { ConfinedProcess } from '../processes/confined-process.ts';
import { programFiles } from '../processes/program-files.ts';
import { findLibraryFolder } from './process/language-libraries.ts';
import { isFromProcess, type FromProcess, type ToProcess } from './process/messages.ts';
import type { ProjectMirror } from './project-mirror.ts';

/** Node has half of this mapped before it has done anything. */
const headroomBytes = 2 * 1024 * 1024 * 1024;

export interface CompileProcessOptions {
  readonly agentTypes: string;
  /** For the resident memory of the process and all that it starts. */
  readonly maxMemoryBytes: number;
  readonly confinement: Confinement;
}

const program = fileURLToPath(new URL('process/main.ts', import.meta.url));
const megabyte = 1024 * 1024;

/** The server's end of one compile process. */
export class CompileProcess extends ConfinedProcess<ToProcess, FromProcess> {
  /** What it has of the projects that are warm in it; the one used last stands last. */
  readonly mirrors = new Map<string, ProjectMirror>();
  #isLast = false;

  constructor({ agentTypes, maxMemoryBytes, confinement }: CompileProcessOptions) {
    super({
      confinement,
      program,
      policy: compilePolicy(maxMemoryBytes),
      maxMemoryBytes,
      isReply: isFromProcess,
      // Rarer garbage collection makes checks faster; near the limit there is as much of it as it takes.
      environment: { GOGC: '300', GOMEMLIMIT: `${Math.floor((maxMemoryBytes / megabyte) * 0.7)}MiB` },
    });
    void this.ended.then(() => this.mirrors.clear());
    void this.send({ kind: 'start', agentTypes });
  }

  /** Whether the work of others goes before it, for good. */
  get isLast(): boolean {
    return this.#isLast;
  }

  goLast(): void {
    this.#isLast = true;
    this.lowerPriority();
  }

  protected override receive(message: FromProcess): void {
    if (message.kind === 'processes') this.countAlso(message.processIds);
    else super.receive(message);
  }
}

/** The files of projects come in messages, so a compile process reads only its own program, and writes nothing. */
const compilePolicy = (maxMemoryBytes: number): Policy => {
  const { readable, runnable } = programFiles();
  return {
    readable,
    runnable: [...runnable, findLibraryFolder(), findEmitter()],
    // These two, and threads. What they start has the same walls.
    processes: true,
    emptyNetwork: true,
    keptDescriptors: [3],
    // Resident memory is looked at five times a second; this ends at once what grows faster than that.
    maxDataBytes: maxMemoryBytes + headroomBytes,
    maxFileBytes: 0,
  };
};

/** The native program of esbuild. */
function findEmitter(): string {
  const esbuild = createRequire(createRequire(import.meta.url).resolve('esbuild/package.json'));
  return esbuild.resolve(`@esbuild/${process.platform}-${process.arch}/bin/esbuild`);
}
