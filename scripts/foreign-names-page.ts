import { foreignGlobals, foreignModules } from '@phalanx/automation/foreign-globals';
import { foreignMembers, foreignWebMembers } from '@phalanx/automation/foreign-members';

type Row = readonly [names: string, instead: string];

/** Returns the page about refused names, with the compiler's messages. */
export function foreignNamesPage(): string {
  return [
    '# What is not here, and what to use instead',
    '<!-- Made from packages/automation/src/names by scripts/write-reference.ts: change those. -->',
    'The compiler says these sentences of code that uses one of the names, and so does the error of a run whose code was not checked.',
    'The language is that of Node 24 (ES2025, decorators, `using`, `Array.fromAsync`), whatever `target` and `lib` a `tsconfig.json` names.',
    'Code may ask whether a name is there: `typeof window === "undefined"` compiles, and is true.',
    '## Globals',
    table(grouped(foreignGlobals)),
    '## Members of globals',
    table(grouped(foreignWebMembers)),
    '## Modules',
    'Packages and modules of Node do not exist here. Also with `node:` before the name:',
    table(grouped(foreignModules)),
    '## Names of other tools',
    'Of `agent` and of nodes. A name that is only mistyped is answered with the nearest of ours.',
    table(foreignMembers.map(([ours, names]) => [named(names.split(' ')), ours])),
  ].join('\n\n');
}

/** Groups names with the same advice into one row. */
function grouped(names: Readonly<Record<string, string>>): Row[] {
  const bySentence = Map.groupBy(Object.entries(names), ([, instead]) => instead);
  return Array.from(bySentence, ([instead, entries]) => [named(entries.map(([name]) => name)), instead]);
}

const named = (names: readonly string[]): string => names.map((name) => `\`${name}\``).join(', ');

const table = (rows: readonly Row[]): string =>
  [['name', 'instead'], ['---', '---'], ...rows]
    .map(([names, instead]) => `| ${names} | ${instead} |`)
    .join('\n');
