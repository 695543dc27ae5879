import {
  allRoutes,
  answersOf,
  type Door,
  type LimitAnswer,
  type LimitKind,
  limitKinds,
  otherDoors,
  type Reach,
  viewerMessages,
} from '@phalanx/protocol';

const begin = '<!-- What limited tokens may: made from the contracts by scripts/write-reference.ts. -->';
const end = '<!-- The end of what limited tokens may. -->';

const words: Record<LimitAnswer, string> = { refused: 'no', within: 'within', open: 'yes' };

const names: Record<LimitKind, string> = {
  projects: 'projects',
  phones: 'phones',
  apps: 'apps',
  max_phones: '`max_phones`',
  budget: 'budget',
};

const doorNames: Record<keyof typeof otherDoors, string> = {
  host: 'WebSocket of a host',
  fetch: '`git clone`, `git fetch`',
  push: '`git push`',
  mcp: '`POST /mcp`',
};

const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;

const answers = (reach: Reach): string[] => {
  const found = answersOf(reach);
  return limitKinds.map((kind) => words[found[kind]]);
};

const doorRow = (name: string, { scope, reach }: Door): string =>
  row([name, `\`${scope}\`${reach.administrators === true ? ', administrators' : ''}`, ...answers(reach)]);

/** Returns a row for each endpoint, with the policy's answers to each kind of token. */
function accessTable(): string {
  const endpoints = allRoutes.flatMap(({ method, path, scope, reach }) =>
    scope === null || reach === null
      ? []
      : doorRow(`\`${method} ${path.replace(/^\/api\/v2/, '')}\``, { scope, reach }),
  );
  const others = Object.entries(otherDoors).map(([name, door]) =>
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- entries lose the names of keys
    doorRow(doorNames[name as keyof typeof otherDoors], door),
  );
  const messages = Object.entries(viewerMessages).map(([type, { of, reach }]) =>
    row([`message \`${type}\` of \`${of}\``, '`read`', ...answers(reach)]),
  );
  const head = [row(['', 'scope', ...limitKinds.map((kind) => names[kind])]), row(Array(7).fill('---'))];
  return [...head, ...endpoints, ...others, ...messages].join('\n');
}

/** Returns the page with the current table between its marks. */
export function withAccessTable(page: string): string {
  const [before, rest] = page.split(begin);
  const after = rest?.split(end)[1];
  if (before === undefined || after === undefined)
    throw new Error(`the page has no place for the table: ${begin}`);
  return `${before}${begin}\n\n${accessTable()}\n\n${end}${after}`;
}
