import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';

import { type Compiler, requireCompiled } from '../../code/compile/compiler.ts';
import type { BundleResult } from '../../code/compile/process/bundle.ts';
import type { ProjectFiles } from '../../code/compile/project-mirror.ts';

/** Code that is ready for the sandbox: one script without imports, and the source map back to the user's lines. */
export interface Bundle {
  readonly code: string;
  /** JSON of a version 3 source map. */
  readonly sourceMap: string | null;
  /** Digest of code and source map: a host that has the bundle does not receive it again. */
  readonly hash: string;
}

export function bundleOf({ code, sourceMap }: Pick<Bundle, 'code' | 'sourceMap'>): Bundle {
  return { code, sourceMap, hash: hash('sha256', JSON.stringify([code, sourceMap]), 'hex') };
}

/** Maximum total length of cached bundles, in UTF-16 units. The least recently used bundles are evicted. */
const maxKeptLength = 64 * 1024 * 1024;

/** Cache of bundles, keyed by their exact sources: many launches of the same code need one compilation. */
export class Bundles {
  readonly #compiler: Compiler;
  readonly #made = new LRUCache<string, Bundle>({ maxSize: maxKeptLength, sizeCalculation: lengthOf });
  readonly #making = new Map<string, Promise<Bundle>>();

  constructor(compiler: Compiler) {
    this.#compiler = compiler;
  }

  /** Bundles a project. Throws `compile_failed` with a line for each mistake. */
  async ofProject(files: ProjectFiles): Promise<Bundle> {
    return this.#get(`${files.projectId} ${files.treeId}`, () => this.#compiler.bundleProject(files));
  }

  /** Bundles direct code. Bundles are cached per user, so that no user learns what others have launched. */
  async ofDirectCode(userId: string, code: string): Promise<Bundle> {
    const key = `${userId} ${hash('sha256', JSON.stringify(code), 'hex')}`;
    return this.#get(key, () => this.#compiler.bundleDirectCode(userId, code));
  }

  async #get(key: string, compile: () => Promise<BundleResult>): Promise<Bundle> {
    const made = this.#made.get(key);
    if (made !== undefined) return made;
    const making = this.#making.get(key) ?? compile().then((result) => bundleOf(requireCompiled(result)));
    this.#making.set(key, making);
    try {
      const bundle = await making;
      this.#made.set(key, bundle);
      return bundle;
    } finally {
      this.#making.delete(key);
    }
  }
}

const lengthOf = ({ code, sourceMap }: Bundle): number => code.length + (sourceMap?.length ?? 0) + 1;
