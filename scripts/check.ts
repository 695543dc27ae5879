// npm run check [-- <names>]: runs all static checks of the code.
import { availableParallelism } from 'node:os';
import { CHECKS, type Check } from './checks.ts';
import { runTool, type ToolResult } from './run-tool.ts';

const AT_ONCE = Math.min(2, availableParallelism());

const startedAt = performance.now();
const checks = chosenChecks(process.argv.slice(2));
const waiting = [...checks];
let failedCount = 0;

await Promise.all(Array.from({ length: AT_ONCE }, runChecks));
const total = `${checks.length - failedCount} passed, ${failedCount} failed`;
console.log(`check: ${total} in ${seconds(performance.now() - startedAt)}`);
if (failedCount > 0) process.exitCode = 1;

function chosenChecks(names: readonly string[]): readonly Check[] {
  const unknown = names.filter((name) => CHECKS.every((check) => check.name !== name));
  if (unknown.length > 0) {
    console.error(
      `No check "${unknown.join(', ')}". There are: ${CHECKS.map(({ name }) => name).join(', ')}.`,
    );
    process.exit(1);
  }
  return names.length === 0 ? CHECKS : CHECKS.filter(({ name }) => names.includes(name));
}

async function runChecks(): Promise<void> {
  for (let check = waiting.shift(); check !== undefined; check = waiting.shift()) {
    const result = await runTool(check.command);
    if (!result.isOk) failedCount++;
    report(check, result);
  }
}

function report(check: Check, { isOk, durationMs, output }: ToolResult): void {
  console.log(`${isOk ? 'ok    ' : 'FAILED'}  ${check.name.padEnd(16)} ${seconds(durationMs).padStart(7)}`);
  const shown = output.trim();
  if (shown !== '' && (!isOk || check.hasWarnings === true))
    console.log(`${shown.replaceAll(/^/gm, '    ')}\n`);
  if (!isOk && check.repair !== undefined) console.log(`    To repair: ${check.repair}\n`);
}

function seconds(durationMs: number): string {
  return `${(durationMs / 1000).toFixed(1)} s`;
}
