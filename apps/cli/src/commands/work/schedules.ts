import { readAll } from '@phalanx/client/read-all';
import { type Command, Option } from '@commander-js/extra-typings';
import { type Schedule, scheduleRoutes, type ScheduleTurn } from '@phalanx/protocol';
import type { Command as PlainCommand } from 'commander';

import type { Connection } from '../../connection/connection.ts';
import { type OptionsOf, serverCommand, type ServerFlags } from '../../connection/server-command.ts';
import { parseCount, addWorkOptions, workOf } from '../../launch/work-options.ts';
import { printMessage, printable } from '../../output/terminal.ts';
import { printJson, printTable } from '../../output/table.ts';
import { chooseSavedProject } from '../../project/project-folder.ts';
import { parseLimit } from '../../option-values.ts';

type CreateFlags = OptionsOf<typeof createOptions>;

/** `phalanx schedules`: jobs that are created at recurring times. */
export function addScheduleCommands(program: PlainCommand): void {
  const schedules = serverCommand(program, 'schedules', {
    about: 'list schedules: jobs that are created at recurring times',
    async run({ api }, flags) {
      const all = await readAll(
        (query) => api.call(scheduleRoutes.list, { query }),
        (page) => page.schedules,
      );
      if (flags.json) printJson({ success: true, schedules: all, next_cursor: null });
      else
        printTable(
          { flexible: 'phones', rows: all.map(row) },
          'No schedules: see "phalanx schedules create --help".',
        );
    },
  });
  serverCommand(schedules, 'create', {
    about: 'create a schedule: a job of a project at each time of a cron expression',
    build: createOptions,
    help: `Example:
  phalanx schedules create checkout --cron "0 2 * * *" --time-zone Europe/Berlin --labels "country=de,model~Pixel" --count 5`,
    run: createSchedule,
  });
  serverCommand(schedules, 'turns', {
    about: 'list past times of a schedule, newest first: the job of each, or why it was skipped',
    build: (command: Command) =>
      command
        .argument('<schedule>', 'ID')
        .option('--limit <count>', 'maximum number of times', parseLimit, 20),
    async run({ api }, { limit, json }, id) {
      const reply = await api.call(scheduleRoutes.listTurns, { params: { id }, query: { limit } });
      if (json) printJson(reply);
      else
        printTable({ flexible: 'reason', rows: reply.turns.map(turnRow) }, 'This schedule has not run yet.');
    },
  });
  serverCommand(schedules, 'run', {
    about: 'create the job of a schedule once, now and as yourself, even if the schedule is paused',
    build: (command: Command) => command.argument('<schedule>', 'ID'),
    async run({ api }, { json }, id) {
      const reply = await api.call(scheduleRoutes.run, { params: { id } });
      if (json) return printJson(reply);
      console.log(printable(`Job ${reply.job.id}: "phalanx jobs show ${reply.job.id}" shows it.`));
    },
  });
  addChangeCommands(schedules);
}

const createOptions = (command: Command) =>
  addWorkOptions(
    command
      .argument('[project]', 'ID or name; default: the project of this folder')
      .requiredOption('--cron <cron>', 'cron expression: minute, hour, day of month, month, day of week')
      .requiredOption('--time-zone <zone>', 'IANA time zone, such as Europe/Berlin')
      .option('--name <name>', 'name of the schedule')
      .option('--jitter <seconds>', 'maximum random delay of the start of each job, in seconds', parseCount)
      .addOption(
        new Option('--overlap <rule>', 'action if the previous job has not ended; default: skip').choices([
          'skip',
          'queue',
          'allow',
        ] as const),
      )
      .addOption(
        new Option(
          '--missed <rule>',
          'which times that passed while the service was down get a job; default: none',
        ).choices(['none', 'last'] as const),
      )
      .option('--paused', 'create the schedule paused'),
  );

async function createSchedule(
  connection: Connection,
  flags: CreateFlags & ServerFlags,
  project: string | undefined,
): Promise<void> {
  const { api } = connection;
  const { cron, timeZone, name, jitter, overlap, missed, paused } = flags;
  const body = {
    automation_id: await chooseSavedProject(connection, project),
    cron,
    time_zone: timeZone,
    ...(await workOf(api, flags)),
    ...(name === undefined ? {} : { name }),
    ...(jitter === undefined ? {} : { jitter_seconds: jitter }),
    ...(overlap === undefined ? {} : { overlap }),
    ...(missed === undefined ? {} : { missed }),
    ...(paused === undefined ? {} : { paused }),
  };
  const { schedule } = await api.call(scheduleRoutes.create, { body });
  if (flags.json) return printJson({ success: true, schedule });
  console.log(printable(`Schedule ${schedule.id}. ${nextText(schedule)}`));
}

function addChangeCommands(schedules: PlainCommand): void {
  for (const [name, paused, about] of [
    ['pause', true, 'pause a schedule: create no jobs until it is resumed'],
    ['resume', false, 'resume a schedule from its next time'],
  ] as const)
    serverCommand(schedules, name, {
      about,
      json: false,
      build: (command: Command) => command.argument('<schedule>', 'ID'),
      async run({ api }, _, id) {
        const { schedule } = await api.call(scheduleRoutes.change, { params: { id }, body: { paused } });
        console.log(printable(nextText(schedule)));
      },
    });
  serverCommand(schedules, 'delete', {
    about: 'delete a schedule; its jobs stay',
    json: false,
    build: (command: Command) => command.argument('<schedule>', 'ID'),
    async run({ api }, _, id) {
      printMessage(await api.call(scheduleRoutes.delete, { params: { id } }));
    },
  });
}

const timeText = (time: number | undefined): string =>
  time === undefined ? '-' : new Date(time).toISOString();

/** Formats a time in the zone of the schedule, like its cron expression, such as `2026-11-30 02:00`. */
function zonedText(time: number, timeZone: string): string {
  // The Swedish locale writes dates as ISO 8601 does.
  return new Intl.DateTimeFormat('sv', { timeZone, dateStyle: 'short', timeStyle: 'short' }).format(time);
}

const nextText = ({ paused, next, time_zone: zone }: Schedule): string =>
  paused
    ? 'The schedule is paused.'
    : `Next: ${next.map((time) => zonedText(time, zone)).join(', ')} (${zone}).`;

function nextCell({ paused, next: [first], time_zone: zone }: Schedule): string {
  if (paused) return 'paused';
  return first === undefined ? '-' : zonedText(first, zone);
}

const row = (schedule: Schedule): Record<string, string> => ({
  schedule: schedule.id,
  name: schedule.name || '-',
  cron: schedule.cron,
  'time zone': schedule.time_zone,
  next: nextCell(schedule),
  phones: schedule.work.selector ?? `${schedule.work.device_ids?.length ?? 0} devices`,
});

const turnRow = ({ planned_at, job_id, reason }: ScheduleTurn): Record<string, string> => ({
  planned: timeText(planned_at),
  job: job_id ?? 'skipped',
  reason,
});
