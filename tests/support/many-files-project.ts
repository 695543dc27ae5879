/**
 * Returns a project of 30 files with typical features of TypeScript projects: circular imports, JSON, enums,
 * decorators, generics.
 */
export function manyFilesProject(): Record<string, string> {
  const parts = Array.from({ length: 24 }, (_, index) => `parts/part-${index + 1}.ts`);
  const files: Record<string, string> = {
    'data/answer.json': '{ "answer": 42 }',
    'color.ts': 'export enum Color {\n  Red = 1,\n  Blue,\n}\n',
    'even.ts': `import { isOdd } from './odd.ts';

export function isEven(value: number): boolean {
  return value === 0 ? true : isOdd(value - 1);
}

export function tellEven(value: number): void {
  console.log('circular:', isEven(value) ? 'even' : 'odd'); // marked
}
`,
    'odd.ts': `import { isEven } from './even.ts';

export const isOdd = (value: number): boolean => (value === 0 ? false : isEven(value - 1));
`,
    'greeter.ts': `type Method<This, Args extends unknown[], Result> = (this: This, ...args: Args) => Result;

function named<This, Args extends unknown[]>(method: Method<This, Args, string>, context: ClassMethodDecoratorContext) {
  return function (this: This, ...args: Args): string {
    return \`[\${String(context.name)}] \${method.apply(this, args)}\`;
  };
}

export class Greeter<Subject extends { toString(): string }> {
  constructor(private readonly subject: Subject) {}

  @named
  greet(greeting: string): string {
    return \`\${greeting}, \${this.subject}\`;
  }
}

export function tellGreeting(greeting: string, job: number): void {
  console.log('decorated:', new Greeter(job).greet(greeting)); // marked
}
`,
    'main.ts': `import answer from './data/answer.json';
import { Color } from './color.ts';
import { tellEven } from './even.ts';
import { tellGreeting } from './greeter.ts';
${parts.map((path, index) => `import { part as part${index + 1} } from './${path}';`).join('\n')}

const ready = await Promise.resolve('ready');
const parts = [${parts.map((_, index) => `part${index + 1}`).join(', ')}];
console.log('sum of the parts:', parts.reduce((sum, part) => sum + part.value, 0)); // sum
tellEven(10);
tellGreeting(agent.arguments.automationParameters.greeting, agent.arguments.jobVariables.job);
console.log(\`enum: \${Color[Color.Blue]}, JSON: \${answer.answer}, awaited: \${ready}\`); // marked
`,
  };
  for (const [index, path] of parts.entries()) {
    files[path] =
      `interface Part<Value> {\n  value: Value;\n}\n\nexport const part: Part<number> = { value: ${index + 1} };\n`;
  }
  return files;
}

const lineOf = (content: string | undefined, mark: string): number =>
  (content ?? '').split('\n').findIndex((line) => line.endsWith(`// ${mark}`)) + 1;

/** Returns the number of the marked line of a file. */
export function markedLine(files: Readonly<Record<string, string>>, name: string): number {
  return name === 'sum.ts' ? lineOf(files['main.ts'], 'sum') : lineOf(files[name], 'marked');
}
