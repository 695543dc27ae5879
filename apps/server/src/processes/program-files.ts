import path from 'node:path';
import { nodeFiles, type Policy } from '@phalanx/confinement';

/** Of the repository, or of the folder that it is packed into. */
const root = path.resolve(import.meta.dirname, '..', '..', '..', '..');

/** What a process needs to read that runs a module of the server in a Node of its own. */
export function programFiles(): Pick<Policy, 'readable' | 'runnable'> {
  const node = nodeFiles();
  const code = ['apps/server', 'packages', 'package.json'].map((name) => path.join(root, name));
  const libraries = foldersUpFrom(root).map((folder) => path.join(folder, 'node_modules'));
  return { readable: [...node.readable, ...code, ...libraries], runnable: node.runnable };
}

/** Where Node looks for packages. */
function foldersUpFrom(folder: string): string[] {
  const parent = path.dirname(folder);
  return parent === folder ? [folder] : [folder, ...foldersUpFrom(parent)];
}
