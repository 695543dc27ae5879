import { bundle } from '../../apps/server/src/code/compile/process/bundle.ts';

/** Bundles direct code for the sandbox. */
export async function bundleSample(sourceCode: string): Promise<{ code: string; sourceMap: string }> {
  const paths = new Set(['main.ts']);
  const read = () => Promise.resolve(sourceCode);
  const result = await bundle({ of: 'direct code', paths, settings: { options: {} }, read });
  if (result.ok) return result;
  throw new Error(result.errors.join('\n'));
}
