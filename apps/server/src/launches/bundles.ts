import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';

import { type Compiler, requireCompiled } from '../compile/compiler.ts';
import type { ProjectFiles } from '../compile/project-mirror.ts';

/** Code that is ready for the sandbox: one script without imports, and the way back to the user's lines. */
export interface Bundle {
  readonly code: string;
  /** JSON of a version 3 source map. */
  readonly sourceMap: string | null;
  /** Hash of both: a host that has it is not sent it again. */
  readonly hash: string;
}

export function bundleOf({ code, sourceMap }: Pick<Bundle, 'code' | 'sourceMap'>): Bundle {
  return { code, sourceMap, hash: hash('sha256', JSON.stringify([code, sourceMap]), 'hex') };
}

/** In UTF-16 units; the bundles that were not launched for longest make room. */
const maxKeptLength = 64 * 1024 * 1024;

/** The bundles of projects, by the exact tree that they were made of. */
export class ProjectBundles {
  readonly #compiler: Compiler;
  readonly #made = new LRUCache<string, Bundle>({ maxSize: maxKeptLength, sizeCalculation: lengthOf });
  readonly #making = new Map<string, Promise<Bundle>>();

  constructor(compiler: Compiler) {
    this.#compiler = compiler;
  }

  /** Throws `compile_failed` with a line for each mistake. */
  async get(files: ProjectFiles): Promise<Bundle> {
    const key = `${files.projectId} ${files.treeId}`;
    const made = this.#made.get(key);
    if (made !== undefined) return made;
    const making = this.#making.get(key) ?? this.#make(files);
    this.#making.set(key, making);
    try {
      const bundle = await making;
      this.#made.set(key, bundle);
      return bundle;
    } finally {
      this.#making.delete(key);
    }
  }

  async #make(files: ProjectFiles): Promise<Bundle> {
    return bundleOf(requireCompiled(await this.#compiler.bundleProject(files)));
  }
}

const lengthOf = ({ code, sourceMap }: Bundle): number => code.length + (sourceMap?.length ?? 0) + 1;
