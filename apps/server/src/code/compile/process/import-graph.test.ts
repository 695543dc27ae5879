import { expect, test } from 'vitest';

import { renameImports } from './import-graph.ts';

const texts: Record<string, string> = {
  'main.ts': `import { pay } from './flows/pay.ts';
import { pay as again } from "./flows/pay";
export * from './flows/pay.js';
const late = await import('./flows/pay');
import { say } from './say';
import all from './flows';`,
  'flows/pay.ts': `import { say } from '../say';
import type { Sum } from './sum.ts';
import data from '../data.json';`,
  'flows/index.ts': '',
  'flows/sum.ts': '',
  'say.ts': '',
  'data.json': '{}',
};
const sources = { has: (path: string) => path in texts, findText: (path: string) => texts[path] };
const renamed = (path: string, from: string, to: string): string[] =>
  renameImports(sources, path, { from, to }).split('\n');

test('what names a renamed file names it anew, in the way in which it did', () => {
  const lines = renamed('main.ts', 'flows/pay.ts', 'shop/checkout.ts');
  expect(lines).toEqual([
    "import { pay } from './shop/checkout.ts';",
    'import { pay as again } from "./shop/checkout";',
    "export * from './shop/checkout.js';",
    "const late = await import('./shop/checkout');",
    "import { say } from './say';",
    "import all from './flows';",
  ]);
  expect(renamed('main.ts', 'flows/index.ts', 'flows/all.ts').at(-1)).toBe("import all from './flows/all';");
  expect(renamed('main.ts', 'flows/index.ts', 'shop/index.ts').at(-1)).toBe("import all from './shop';");
});

test('a file that goes to another folder still finds what it needs', () => {
  expect(renamed('flows/pay.ts', 'flows/pay.ts', 'pay.ts')).toEqual([
    "import { say } from './say';",
    "import type { Sum } from './flows/sum.ts';",
    "import data from './data.json';",
  ]);
  expect(renamed('flows/pay.ts', 'flows/pay.ts', 'flows/buy.ts').join('\n')).toBe(texts['flows/pay.ts']);
});
