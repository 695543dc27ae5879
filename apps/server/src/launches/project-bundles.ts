import type { Compiler } from '../compile/compiler.ts';
import type { ProjectFiles } from '../compile/project-files.ts';
import { ApiError } from '../http/api-error.ts';
import { bundleOf, type Bundle } from './bundle.ts';

/** In UTF-16 units; the bundles that were not launched for longest make room. */
const maxKeptLength = 64 * 1024 * 1024;

/** The bundles of projects, by the exact tree that they were made of. */
export class ProjectBundles {
  readonly #compiler: Compiler;
  readonly #kept = new Map<string, Promise<Bundle>>();
  readonly #lengths = new Map<string, number>();

  constructor(compiler: Compiler) {
    this.#compiler = compiler;
  }

  /** Throws `compile_failed` with a line for each mistake. */
  async get(files: ProjectFiles): Promise<Bundle> {
    const key = `${files.projectId} ${files.treeId}`;
    const known = this.#kept.get(key) ?? this.#make(files);
    this.#kept.delete(key);
    this.#kept.set(key, known);
    try {
      const bundle = await known;
      this.#lengths.set(key, bundle.code.length + (bundle.sourceMap?.length ?? 0));
      this.#makeRoom();
      return bundle;
    } catch (error) {
      this.#forget(key);
      throw error;
    }
  }

  async #make(files: ProjectFiles): Promise<Bundle> {
    const result = await this.#compiler.bundleProject(files);
    if (result.ok) return bundleOf(result);
    const { errors } = result;
    throw ApiError.of('compile_failed', { summary: errors[0] ?? 'unknown mistake' }, { errors });
  }

  #makeRoom(): void {
    let total = this.#lengths.values().reduce((sum, length) => sum + length, 0);
    for (const [key, length] of this.#lengths) {
      if (total <= maxKeptLength) return;
      this.#forget(key);
      total -= length;
    }
  }

  #forget(key: string): void {
    this.#kept.delete(key);
    this.#lengths.delete(key);
  }
}
