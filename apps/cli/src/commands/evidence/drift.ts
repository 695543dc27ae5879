import type { Command } from '@commander-js/extra-typings';
import { type AppVersionFigures, type DriftGroup, driftRoutes } from '@phalanx/protocol';
import type { Command as PlainCommand } from 'commander';

import { serverCommand } from '../../connection/server-command.ts';
import { getAutomationId } from '../../launch/find-by-name.ts';
import { formatAge } from '../../output/duration.ts';
import { printable } from '../../output/terminal.ts';
import { printJson, printTable } from '../../output/table.ts';

/** `phalanx drift` */
export function addDriftCommand(program: PlainCommand): void {
  serverCommand(program, 'drift', {
    about: "show how well a project's code recognises each version of its apps",
    build: (command: Command) => command.argument('<project>', 'ID or name'),
    help: `A version is marked as "worse" when its runs end badly at least twice as often as runs with the version before, and
chance is an unlikely reason. The webhook event drift.found reports it.

Example:
  phalanx drift shop`,
    async run({ api }, { json }, project) {
      const params = { id: await getAutomationId(api, project) };
      const reply = await api.call(driftRoutes.get, { params });
      if (json) return printJson(reply);
      printTable(
        { flexible: 'app', rows: reply.versions.map(row) },
        'No versions yet: a run that reads screens of an app reports its version at the end.',
      );
      for (const version of reply.versions) printNews(version);
    },
  });
}

const percent = (part: number, all: number): string =>
  all === 0 ? '-' : `${Math.round((100 * part) / all)} %`;

const row = (one: AppVersionFigures): Record<string, string> => ({
  app: one.package,
  version: one.version,
  runs: String(one.runs),
  bad: `${one.bad_runs} (${percent(one.bad_runs, one.runs)})`,
  records: String(one.records),
  groups: String(one.groups),
  first: formatAge(one.first_seen),
  state: stateOf(one),
});

function stateOf({ drift }: AppVersionFigures): string {
  if (drift === null) return '';
  return drift.by === 'failing'
    ? `worse than ${drift.version_before ?? 'before'}`
    : 'a solved group is open again';
}

function printNews({ package: name, version, drift, new_groups: groups }: AppVersionFigures): void {
  if (drift?.group_id !== undefined)
    console.log(printable(`\n${name} ${version}: the solved group ${drift.group_id} is open again.`));
  if (groups.length === 0) return;
  console.log(printable(`\nNew with ${name} ${version}:`));
  for (const group of groups) console.log(printable(`  ${group.id}  ${textOf(group)}`));
}

function textOf({ title, next_stage: stage, records, nearest }: DriftGroup): string {
  const what = `${title === '' ? '(no text)' : title}, on the way to ${stage}, ${records} ${records === 1 ? 'record' : 'records'}`;
  if (nearest === null) return what;
  const { state, likeness, difference, name } = nearest;
  return `${what}\n    like ${state} (${Math.round(likeness * 100)} %, ${name}): ${difference}`;
}
