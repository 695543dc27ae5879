// npm run lab -- NAME [arguments]: runs a development program that is neither a test nor a benchmark.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const programs = {
  'console-figures': {
    file: 'tests/console/figures.ts',
    about: 'measures the console with 1,000 phones, 100,000 records and 50,000 log lines',
  },
  fuzz: {
    file: 'tests/fuzz/main.ts',
    about: "sends a million requests made from the API's document; --requests N --seed N",
  },
  'mcp-session': {
    file: 'tests/mcp-session/main.ts',
    about: 'prints the cost of each call of a scripted coding agent in tokens',
  },
  'phone-table': {
    file: 'scripts/phone-table.ts',
    about: "runs the driver's suite on the phone of each maker, by each way to it",
  },
  picture: { file: 'tests/console/readme-picture.ts', about: 'makes the pictures of README.md' },
  'real-screens': {
    file: 'tests/real-screens/main.ts',
    about: 'groups dumps of real phones, which it fetches from public repositories',
  },
  screenshots: {
    file: 'tests/console/screenshots.ts',
    about: 'makes a picture of every page of the console, in three widths and both themes; FOLDER',
  },
  transcript: {
    file: 'tests/transcripts/main.ts',
    about: 'writes the answers of every route, to compare two commits; --out FILE --seed N --engine cluster',
  },
} as const;

const isKnown = (name: string | undefined): name is keyof typeof programs =>
  name !== undefined && name in programs;

const [node = '', , name, ...rest] = process.argv;
if (isKnown(name)) {
  const file = join(import.meta.dirname, '..', programs[name].file);
  // The program reads its own arguments.
  process.argv = [node, file, ...rest];
  await import(pathToFileURL(file).href);
  // The process that starts confined ones would keep this one alive.
  process.exit();
} else {
  const width = Math.max(...Object.keys(programs).map(({ length }) => length));
  const rows = Object.entries(programs).map(([one, { about }]) => `  ${one.padEnd(width)}  ${about}`);
  console.error(['Usage: npm run lab -- NAME [arguments]', '', ...rows].join('\n'));
  process.exitCode = 2;
}
