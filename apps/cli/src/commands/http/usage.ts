import type { Command } from '@commander-js/extra-typings';
import { readAll } from '@phalanx/client/read-all';
import { usageRoutes, type Usage, type UsageRow, type TokenBudget } from '@phalanx/protocol';
import type { Command as PlainCommand } from 'commander';
import type { Static } from 'typebox';

import type { Connection } from '../../connection/connection.ts';
import { type OptionsOf, serverCommand, type ServerFlags } from '../../connection/server-command.ts';
import { getUserId } from '../../launch/find-by-name.ts';
import { printJson, printTable } from '../../output/table.ts';

/** `phalanx usage` */
export function addUsageCommand(program: PlainCommand): void {
  serverCommand(program, 'usage', {
    about: 'show your usage and limits: projects, storage, phones, runs and more',
    build: usageOptions,
    run: showUsage,
  });
}

const usageOptions = (command: Command) =>
  command
    .option('--user <user>', 'show the usage of this user (ID or name); administrators only')
    .option('--all', 'show the usage of every user; administrators only');

async function showUsage(
  { api }: Connection,
  flags: OptionsOf<typeof usageOptions> & ServerFlags,
): Promise<void> {
  if (flags.all) {
    const usage = await readAll(
      (query) => api.call(usageRoutes.list, { query }),
      (page) => page.usage,
    );
    if (flags.json) return printJson({ success: true, usage, next_cursor: null });
    const rows = usage.flatMap((one) => one.limits.filter(isTold).map((row) => rowOf(row, one)));
    return printTable({ flexible: 'user', rows }, 'No usage that counts towards a limit.');
  }
  if (flags.user === undefined) return showOwn(await api.call(usageRoutes.mine, {}), flags);
  const reply = await api.call(usageRoutes.ofUser, { params: { id: await getUserId(api, flags.user) } });
  if (flags.json) printJson(reply);
  else printLimits(reply.usage);
}

function showOwn(reply: Static<(typeof usageRoutes.mine.responses)[200]>, { json }: ServerFlags): void {
  if (json) return printJson(reply);
  printLimits(reply.usage);
  const { budget } = reply;
  if (budget === null) return;
  console.log(`This token, until ${new Date(budget.free_at).toISOString()}: ${budgetText(budget)}.`);
}

const printLimits = ({ limits }: Usage): void =>
  printTable({ flexible: 'setting', rows: limits.map((row) => rowOf(row)) }, 'No limits.');

/** Whether the list of all users shows a limit. Unused limits would hide the others. */
const isTold = ({ used, refused }: UsageRow): boolean => (used ?? 0) > 0 || refused > 0;

const mebibyte = 1024 * 1024;

const amount = (value: number, { unit }: UsageRow): string =>
  unit === 'bytes'
    ? `${(value / mebibyte).toLocaleString('en', { maximumFractionDigits: 1 })} MB`
    : value.toLocaleString('en');

function rowOf(row: UsageRow, user?: Usage): Record<string, string> {
  return {
    ...(user === undefined ? {} : { user: user.name }),
    limit: row.limit.replaceAll('_', ' '),
    used: row.used === null ? '' : amount(row.used, row),
    of: amount(row.most, row),
    per: row.per,
    refused: row.refused.toLocaleString('en'),
    setting: row.setting,
  };
}

/** Formats a budget, such as `3 of 50 runs, 12 of 120 min`. */
export function budgetText({ runs_per_day, minutes_per_day, runs_used, minutes_used }: TokenBudget): string {
  const parts = [
    ...(runs_per_day === null ? [] : [`${runs_used} of ${runs_per_day} runs`]),
    ...(minutes_per_day === null ? [] : [`${minutes_used} of ${minutes_per_day} min`]),
  ];
  return parts.join(', ');
}
