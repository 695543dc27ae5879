import { parseArgs } from 'node:util';

/** Numeric options and their defaults. */
const counts = {
  requests: { default: 1_000_000, help: 'requests to the REST API' },
  frames: { default: 100_000, help: 'frames of hosts, a thousand at a time' },
  pushes: { default: 2000, help: 'pushes of git' },
  tampered: { default: 2000, help: 'messages of a phone' },
  seed: { default: 1, help: 'where the first thousand begins; the same seed asks the same' },
  'at-once': { default: 16, help: 'requests under way together' },
} as const;
type Name = keyof typeof counts;

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a constant has no keys but its own
const names = Object.keys(counts) as Name[];

const usage = `Usage: npm run lab -- fuzz [options]

Asks the service, its hosts, git and a phone for what nobody should ask for, and tells what went wrong.
Ends with 1 when anything did. Ctrl-C ends it with what was found so far.

${names.map((name) => `  --${name.padEnd(10)} N  ${counts[name].help} (${counts[name].default})`).join('\n')}
  --help          this page`;

/** Parses the options. Ends the process if there is nothing to run. */
export function readOptions(args: string[]): Record<Name, number> {
  try {
    const { values } = parseArgs({
      args,
      options: {
        help: { type: 'boolean' },
        ...Object.fromEntries(names.map((name) => [name, { type: 'string' as const }])),
      },
    });
    if (values['help'] !== true) return numbersOf(values);
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`);
    return process.exit(2);
  }
  console.log(usage);
  return process.exit(0);
}

function numbersOf(values: Record<string, unknown>): Record<Name, number> {
  const numbers = names.map((name): [Name, number] => {
    const number = Number(values[name] ?? counts[name].default);
    if (Number.isSafeInteger(number) && number >= 0) return [name, number];
    throw new Error(`--${name} is a whole number, not ${String(values[name])}`);
  });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- of each name there is one
  return Object.fromEntries(numbers) as Record<Name, number>;
}
