/**
 * `npm run lab -- real-screens [--from REPOSITORY]`
 *
 * Fetches dumps of real phones from public repositories. Prints how well their screens are grouped, in ten orders,
 * and how many screens have a sign that holds on all their dumps and on no dump of another screen. `--from` names a
 * copy of the first repository to clone instead.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { openConfinement } from '@phalanx/confinement';
import type { ScreenTree } from '@phalanx/protocol';
import { parseTree } from '../../apps/host/src/driver/tree/parse-tree.ts';
import { printOf } from '../../apps/server/src/evidence/records/groups/prints/screen-print.ts';
import { findSigns, SignReader } from '../../apps/server/src/evidence/records/proposals/find-signs.ts';
import { groupAll, measureGroups, shuffled } from '../../apps/server/src/testing/records/grouping-quality.ts';
import { type DumpSource, dumpSources } from './sources.ts';

interface Dump {
  label: string;
  tree: Pick<ScreenTree, 'root' | 'packageName'>;
}

const run = promisify(execFile);
const { values } = parseArgs({ options: { from: { type: 'string' } } });

const folder = await mkdtemp(path.join(tmpdir(), 'phalanx-real-screens-'));
try {
  const dumps: Dump[] = [];
  for (const [index, source] of dumpSources.entries())
    dumps.push(...(await fetchDumps(source, index === 0 ? values.from : undefined)));
  console.log(`${dumps.length} dumps of ${new Set(dumps.map(({ label }) => label)).size} screens`);
  printGrouping(dumps);
  await printSigns(dumps);
} finally {
  await rm(folder, { recursive: true });
}

async function fetchDumps({ repository, commit, screens }: DumpSource, from?: string): Promise<Dump[]> {
  const clone = path.join(folder, commit);
  await run('git', ['clone', '--quiet', '--no-checkout', from ?? repository, clone]);
  await run('git', ['-C', clone, 'checkout', '--quiet', commit]);
  const files = Object.entries(screens).flatMap(([label, names]) => names.map((name) => ({ label, name })));
  return Promise.all(
    files.map(async ({ label, name }) => {
      const tree = parseTree(await readFile(path.join(clone, name), 'utf8'));
      return { label: `${tree.packageName} ${label}`, tree };
    }),
  );
}

function printGrouping(dumps: readonly Dump[]): void {
  const all = Array.from({ length: 10 }, (_, order) => {
    const mixed = shuffled(dumps, order + 1);
    const prints = mixed.map(({ tree }) => ({ print: printOf(tree), language: null }));
    return measureGroups(
      mixed.map(({ label }) => label),
      groupAll(prints),
    );
  });
  for (const figure of ['precision', 'recall', 'groups'] as const) {
    const figures = all.map((one) => one[figure]);
    const mean = figures.reduce((sum, one) => sum + one, 0) / figures.length;
    console.log(
      `${figure}: ${mean.toFixed(3)} (${Math.min(...figures).toFixed(3)} to ${Math.max(...figures).toFixed(3)})`,
    );
  }
}

async function printSigns(dumps: readonly Dump[]): Promise<void> {
  const reader = new SignReader(await openConfinement());
  const bytes = dumps.map(({ label, tree }) => ({ label, json: Buffer.from(JSON.stringify(tree)) }));
  const labels = [...new Set(bytes.map(({ label }) => label))];
  const without: string[] = [];
  for (const label of labels) {
    const of = (isOwn: boolean) =>
      bytes.filter((one) => (one.label === label) === isOwn).map(({ json }) => json);
    const { signs } = await findSigns({
      reader,
      screens: of(true),
      others: oneBatch(of(false)),
      variety: { languages: 1, appVersions: 1 },
    });
    if (signs.length === 0) without.push(label);
  }
  await reader.close();
  console.log(`screens with a sign: ${labels.length - without.length} of ${labels.length}`);
  for (const label of without) console.log(`  none: ${label}`);
}

async function* oneBatch(trees: Uint8Array[]): AsyncGenerator<Uint8Array[]> {
  yield trees;
}
