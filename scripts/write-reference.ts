// node scripts/run.mjs scripts/write-reference.ts [--check]
// Writes the pages of docs/automation, from the declarations that users' editors have and from the tables of other
// names; the table of limited tokens of docs/reference.md, from the contracts of the API; and docs/cli.md, from the
// help of the commands.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { format } from 'oxfmt';

import { withAccessTable } from './access-table.ts';
import { withCommands } from './command-reference.ts';
import { formatting } from './formatting.ts';
import { foreignNamesPage } from './foreign-names-page.ts';
import { referencePage } from './reference-page.ts';

const root = join(import.meta.dirname, '..');
const types = join(root, 'packages/automation/src/types');
const folder = join(root, 'docs/automation');

const titles = {
  agent: 'agent',
  actions: 'agent.actions',
  waits: 'agent.actions: waits',
  'android-node': 'Nodes of the screen',
  apps: 'agent.apps',
  files: 'agent.files',
  messages: 'agent.messages',
  records: 'agent.utils',
  job: 'agent.utils.job',
  stages: 'The stage runner',
  web: 'Globals as in browsers and Node',
  'web-fetch': 'fetch, forms and blobs',
  'web-events': 'Events and aborts',
  'web-crypto': 'crypto',
} as const;

const pages = Object.entries(titles).map(([name, title]) => {
  const fileName = `${name}.d.ts`;
  return [name, referencePage(title, fileName, readFileSync(join(types, fileName), 'utf8'))] as const;
});

const wrong: string[] = [];

async function write(path: string, text: string): Promise<void> {
  const { code: page } = await format(path, text, formatting);
  if (existsSync(path) && readFileSync(path, 'utf8') === page) return;
  wrong.push(relative(root, path));
  if (!process.argv.includes('--check')) writeFileSync(path, page);
}

mkdirSync(folder, { recursive: true });
for (const [name, text] of [...pages, ['not-here', foreignNamesPage()] as const]) {
  await write(join(folder, `${name}.md`), text);
}
const reference = join(root, 'docs/reference.md');
await write(reference, withAccessTable(readFileSync(reference, 'utf8')));
const commands = join(root, 'docs/cli.md');
await write(commands, await withCommands(readFileSync(commands, 'utf8')));
if (process.argv.includes('--check') && wrong.length > 0) {
  console.error(`${wrong.join(', ')}: not what the declarations and contracts say.`);
  process.exitCode = 1;
}
