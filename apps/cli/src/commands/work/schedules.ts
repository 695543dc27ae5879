import { readAll } from '@phalanx/client/read-all';
import { type Schedule, scheduleRoutes, type ScheduleTurn } from '@phalanx/protocol';
import { type Command, Option } from 'commander';

import { addConnectionOptions, connect, type ConnectionFlags } from '../../connection/connection.ts';
import { parseCount, addWorkOptions, type WorkFlags, workOf } from '../../launch/work-options.ts';
import { printMessage, printable } from '../../output/terminal.ts';
import { printJson, printTable } from '../../output/table.ts';
import { chooseSavedProject } from '../../project/project-folder.ts';
import { parseLimit } from '../../option-values.ts';

interface CreateFlags extends WorkFlags {
  cron: string;
  timeZone: string;
  name?: string;
  jitter?: number;
  overlap?: Schedule['overlap'];
  missed?: Schedule['missed'];
  paused?: true;
}

/** `phalanx schedules`: jobs that are created at recurring times. */
export function addScheduleCommands(program: Command): void {
  const schedules = program
    .command('schedules')
    .description('list schedules: jobs that are created at recurring times')
    .option('--json', "print the API's reply")
    .action(async (flags: ConnectionFlags & { json?: true }) => {
      const { api } = await connect(flags);
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
    });
  addConnectionOptions(schedules);
  addCreateCommand(schedules);
  addTurnsCommand(schedules);
  addRunCommand(schedules);
  addChangeCommands(schedules);
}

function addCreateCommand(schedules: Command): void {
  const create = schedules
    .command('create')
    .description('create a schedule: a job of a project at each time of a cron expression')
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
      ]),
    )
    .addOption(
      new Option(
        '--missed <rule>',
        'which times that passed while the service was down get a job; default: none',
      ).choices(['none', 'last']),
    )
    .option('--paused', 'create the schedule paused')
    .addHelpText(
      'after',
      `
Example:
  phalanx schedules create checkout --cron "0 2 * * *" --time-zone Europe/Berlin --labels "country=de,model~Pixel" --count 5`,
    )
    .action(createSchedule);
  addWorkOptions(create);
  addConnectionOptions(create);
}

async function createSchedule(project: string | undefined, flags: CreateFlags): Promise<void> {
  const connection = await connect(flags);
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

function addTurnsCommand(schedules: Command): void {
  const turns = schedules
    .command('turns')
    .description('list past times of a schedule, newest first: the job of each, or why it was skipped')
    .argument('<schedule>', 'ID')
    .option('--limit <count>', 'maximum number of times', parseLimit, 20)
    .option('--json', "print the API's reply")
    .action(async (id: string, flags: ConnectionFlags & { limit: number; json?: true }) => {
      const { api } = await connect(flags);
      const reply = await api.call(scheduleRoutes.listTurns, {
        params: { id },
        query: { limit: flags.limit },
      });
      if (flags.json) printJson(reply);
      else
        printTable({ flexible: 'reason', rows: reply.turns.map(turnRow) }, 'This schedule has not run yet.');
    });
  addConnectionOptions(turns);
}

function addRunCommand(schedules: Command): void {
  const run = schedules
    .command('run')
    .description('create the job of a schedule once, now and as yourself, even if the schedule is paused')
    .argument('<schedule>', 'ID')
    .option('--json', "print the API's reply")
    .action(async (id: string, flags: ConnectionFlags & { json?: true }) => {
      const { api } = await connect(flags);
      const reply = await api.call(scheduleRoutes.run, { params: { id } });
      if (flags.json) return printJson(reply);
      console.log(printable(`Job ${reply.job.id}: "phalanx jobs show ${reply.job.id}" shows it.`));
    });
  addConnectionOptions(run);
}

function addChangeCommands(schedules: Command): void {
  for (const [name, paused, description] of [
    ['pause', true, 'pause a schedule: create no jobs until it is resumed'],
    ['resume', false, 'resume a schedule from its next time'],
  ] as const) {
    const command = schedules
      .command(name)
      .description(description)
      .argument('<schedule>', 'ID')
      .action(async (id: string, flags: ConnectionFlags) => {
        const { api } = await connect(flags);
        const { schedule } = await api.call(scheduleRoutes.change, { params: { id }, body: { paused } });
        console.log(printable(nextText(schedule)));
      });
    addConnectionOptions(command);
  }
  const remove = schedules
    .command('delete')
    .description('delete a schedule; its jobs stay')
    .argument('<schedule>', 'ID')
    .action(async (id: string, flags: ConnectionFlags) => {
      const { api } = await connect(flags);
      printMessage(await api.call(scheduleRoutes.delete, { params: { id } }));
    });
  addConnectionOptions(remove);
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
