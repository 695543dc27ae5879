import { spawn } from 'node:child_process';
import { join } from 'node:path';

export interface ToolResult {
  readonly isOk: boolean;
  readonly durationMs: number;
  /** Output of the tool to both streams, in the order of arrival. */
  readonly output: string;
}

const ROOT = join(import.meta.dirname, '..');

/** Runs a tool at the repository's root. Requires node_modules/.bin in PATH, as set by scripts/run.mjs. */
export async function runTool([program, ...args]: readonly [string, ...string[]]): Promise<ToolResult> {
  const startedAt = performance.now();
  const command = program === 'node' ? process.execPath : program;
  const child = spawn(command, args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  }
  const isOk = await new Promise<boolean>((resolve) => {
    child.once('error', (error) => {
      output += `${program} did not start: ${error.message}. Start the checks with npm run check.`;
      resolve(false);
    });
    child.once('close', (code) => resolve(code === 0));
  });
  return { isOk, durationMs: performance.now() - startedAt, output };
}
