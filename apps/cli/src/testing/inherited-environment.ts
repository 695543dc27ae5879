/** What a `phalanx` process in a test takes from the test's own environment. Node reads its compiled modules from the cache. */
export function inheritedEnvironment(): Record<string, string> {
  const { PATH = '', TMPDIR = '/tmp', NODE_COMPILE_CACHE } = process.env;
  return { PATH, TMPDIR, ...(NODE_COMPILE_CACHE !== undefined && { NODE_COMPILE_CACHE }) };
}
