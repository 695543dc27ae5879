// node scripts/run.mjs scripts/write-reference.ts [--check]
// The pages of docs/automation, from the declarations that users' editors have.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { format } from 'oxfmt';

import { formatting } from './formatting.ts';
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
} as const;

const wrong: string[] = [];
mkdirSync(folder, { recursive: true });
for (const [name, title] of Object.entries(titles)) {
  const fileName = `${name}.d.ts`;
  const path = join(folder, `${name}.md`);
  const text = referencePage(title, fileName, readFileSync(join(types, fileName), 'utf8'));
  const { code: page } = await format(path, text, formatting);
  if (existsSync(path) && readFileSync(path, 'utf8') === page) continue;
  wrong.push(`docs/automation/${name}.md`);
  if (!process.argv.includes('--check')) writeFileSync(path, page);
}
if (process.argv.includes('--check') && wrong.length > 0) {
  console.error(`${wrong.join(', ')}: not what the declarations say.`);
  process.exitCode = 1;
}
