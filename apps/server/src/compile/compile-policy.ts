import { createRequire } from 'node:module';
import type { Policy } from '@phalanx/confinement';

import { programFiles } from '../program-files.ts';
import { findLibraryFolder } from './process/language-libraries.ts';

/** Node has half of this mapped before it has done anything. */
const headroomBytes = 2 * 1024 * 1024 * 1024;

/** The files of projects come in messages, so a compile process reads only its own program, and writes nothing. */
export const compilePolicy = (maxMemoryBytes: number): Policy => {
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
