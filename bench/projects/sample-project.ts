/** Initial files of a project, by path. */
export type SampleFiles = ReadonlyMap<string, string>;

const filesPerFolder = 20;
/** File that is rewritten repeatedly. */
export const changedPath = 'part0/step1.ts';
const changedLines = 200;

const stepPath = (index: number): string =>
  `part${Math.floor(index / filesPerFolder)}/step${index % filesPerFolder}.ts`;

const step = (index: number): string => `// step ${index}
export interface Found${index} { text: string; tries: number }
export async function step${index}(wanted: string, most = ${2 + (index % 5)}): Promise<Found${index} | undefined> {
  for (let tries = 1; tries <= most; tries += 1) {
    const screen = await agent.actions.screenContent();
    if (screen.children.some((node) => node.text === wanted)) return { text: wanted, tries };
    await agent.actions.sleep(100 * tries);
  }
  return undefined;
}
`;

/** Returns a project of `count` files, twenty per folder, including `main.ts`. */
export function sampleFiles(count: number): SampleFiles {
  const steps = Array.from({ length: count - 1 }, (_, index): [string, string] => [
    stepPath(index),
    step(index),
  ]);
  const main = "import { step0 } from './part0/step0';\nconsole.log(await step0('Home'));\n";
  return new Map([['main.ts', main], ...steps]);
}

/** Returns 200 unique lines without errors that use other files of the project. */
export function changedContent(): string {
  const lines = [
    "import { step0, type Found0 } from './step0';",
    "import { step2 } from './step2';",
    `const version: string = '${crypto.randomUUID()}';`,
    'export async function step1(): Promise<(Found0 | undefined)[]> {',
    '  const all: (Found0 | undefined)[] = [];',
  ];
  for (let line = lines.length; line < changedLines - 3; line += 2) {
    lines.push(
      `  const found${line} = await ${line % 4 === 1 ? 'step0' : 'step2'}(\`\${version} ${line}\`, ${line});`,
      `  if (found${line} !== undefined) all.push({ ...found${line}, tries: found${line}.tries + ${line} });`,
    );
  }
  lines.push('  return all.filter((one) => one?.text !== version);', '}', '');
  return lines.join('\n');
}
