import { writeFile } from 'node:fs/promises';
import { type Command, InvalidArgumentError, Option } from '@commander-js/extra-typings';
import { maxStatsDays, type Stat, statsGroupings, type StatsGrouping, statsRoutes } from '@phalanx/protocol';
import type { Command as PlainCommand } from 'commander';

import type { Connection } from '../../connection/connection.ts';
import { type OptionsOf, serverCommand, type ServerFlags } from '../../connection/server-command.ts';
import { getAutomationId } from '../../launch/find-by-name.ts';
import { formatDuration } from '../../output/duration.ts';
import { printJson, printTable } from '../../output/table.ts';

/** `phalanx stats` */
export function addStatsCommand(program: PlainCommand): void {
  serverCommand(program, 'stats', {
    about: 'show run statistics: counts, success, durations, and how busy the phones were',
    build: statsOptions,
    help: `Examples:
  phalanx stats
  phalanx stats --by device --labels pool=berlin --days 7
  phalanx stats --by day --project checkout --out checkout.csv`,
    run: showStats,
  });
}

const statsOptions = (command: Command) =>
  command
    .addOption(
      new Option('--by <what>', 'grouping of the rows').choices(statsGroupings).default('automation'),
    )
    .option('--days <count>', 'number of days (UTC), including today', parseDays, 30)
    .option('--project <project>', 'only runs of this project (ID or name)')
    .option('--labels <selector>', 'only runs on matching phones, such as "pool=berlin"')
    .option('--csv', 'print CSV')
    .option('--out <file>', 'write the CSV to this file');

async function showStats(
  { api }: Connection,
  { by, days, project, labels, csv, out, json }: OptionsOf<typeof statsOptions> & ServerFlags,
): Promise<void> {
  const query = {
    by,
    days,
    ...(project === undefined ? {} : { automation_id: await getAutomationId(api, project) }),
    ...(labels === undefined ? {} : { selector: labels }),
  };
  if (csv || out !== undefined) {
    const text = await api.text(statsRoutes.export, { query });
    if (out === undefined) process.stdout.write(text);
    else await writeFile(out, text);
    return;
  }
  const reply = await api.call(statsRoutes.read, { query });
  if (json) return printJson(reply);
  const rows = [...reply.stats, ...(reply.stats.length > 1 && by !== 'pool' ? [reply.total] : [])];
  printTable(
    { flexible: 'reasons', rows: rows.map((stat) => row(by, stat)) },
    `No run has ended in ${days} ${days === 1 ? 'day' : 'days'}.`,
  );
}

const percent = (share: number | null): string => (share === null ? '-' : `${Math.round(share * 100)} %`);
const duration = (ms: number | null): string => (ms === null ? '-' : formatDuration(ms));

const row = (by: StatsGrouping, stat: Stat): Record<string, string> => ({
  [by]: stat.name,
  runs: stat.runs.toLocaleString('en'),
  success: percent(stat.success_share),
  duration: duration(stat.average_run_ms),
  waiting: duration(stat.average_wait_ms),
  busy: percent(stat.busy_share),
  reasons: stat.reasons
    .slice(0, 3)
    .map(({ reason, runs }) => `${reason} ${runs}`)
    .join(', '),
});

function parseDays(text: string): number {
  const days = Number(text);
  if (Number.isInteger(days) && days >= 1 && days <= maxStatsDays) return days;
  throw new InvalidArgumentError(`Expected a whole number from 1 to ${maxStatsDays}.`);
}
