import { readFile, writeFile } from 'node:fs/promises';
import type { ApiClient } from '@phalanx/client/api-client';
import { readAll } from '@phalanx/client/read-all';
import { ServiceError } from '@phalanx/client/service-errors';
import { type Command, InvalidArgumentError, Option } from '@commander-js/extra-typings';
import {
  type Job,
  jobRoutes,
  type JobBody,
  type RetryReason,
  retryReasons,
  type Task,
} from '@phalanx/protocol';
import type { Command as PlainCommand } from 'commander';

import type { Connection } from '../../connection/connection.ts';
import { type OptionsOf, serverCommand, type ServerFlags } from '../../connection/server-command.ts';
import { CommandError, exitCodes, usageError } from '../../exit-codes.ts';
import { parseCount, addWorkOptions, workOf } from '../../launch/work-options.ts';
import { listDevices, serialOf } from '../../launch/find-by-name.ts';
import { formatAge } from '../../output/duration.ts';
import { notice, printable } from '../../output/terminal.ts';
import { printJson, printTable } from '../../output/table.ts';
import { chooseSavedProject } from '../../project/project-folder.ts';
import { parseLimit } from '../../option-values.ts';

type CreateFlags = OptionsOf<typeof createOptions>;

/** `phalanx jobs`: runs that wait for phones. */
export function addJobCommands(program: PlainCommand): void {
  const jobs = serverCommand(program, 'jobs', {
    about: 'list jobs, newest first: runs that wait for free phones',
    build: (command: Command) =>
      command
        .option('--open', 'only jobs that have not ended')
        .option('--limit <count>', 'maximum number of jobs', parseLimit, 20),
    async run({ api }, { limit, open, json }) {
      const query = { limit, ...(open ? { open: 'true' as const } : {}) };
      const reply = await api.call(jobRoutes.list, { query });
      if (json) printJson(reply);
      else
        printTable(
          { flexible: 'project', rows: reply.jobs.map(row) },
          'No jobs: see "phalanx jobs create --help".',
        );
    },
  });
  serverCommand(jobs, 'create', {
    about: 'run a project on phones as soon as they are free',
    build: createOptions,
    help: `Examples:
  phalanx jobs create checkout
  phalanx jobs create checkout --labels "country=de,model~Pixel" --count 5
  phalanx jobs create register --labels pool=berlin --inputs people.csv --follow
  phalanx jobs results JOB --out results.csv`,
    run: createJob,
  });
  addReadCommands(jobs);
  addChangeCommands(jobs);
}

const createOptions = (command: Command) =>
  addWorkOptions(
    command
      .argument('[project]', 'ID or name; default: the project of this folder')
      .option(
        '--inputs <file>',
        'CSV file with a header line, or JSON Lines file: one run for each row, which becomes its jobVariables',
      )
      .option('--wait <seconds>', 'time after which tasks that have not started fail', parseCount)
      .option('--retries <n>', 'maximum number of retries of a task, from 0 to 20; default: 3', parseRetries)
      .addOption(
        new Option('--retry-on <reason>', 'reason for a retry (repeatable); default: lost and phone')
          .choices(retryReasons)
          .argParser((value: string, before: RetryReason[]) => [...before, reasonOf(value)])
          .default<RetryReason[]>([]),
      )
      .option('--key <key>', 'idempotency key: another command with the same key creates no second job')
      .option('--follow', 'wait until the job ends; exit with 1 if a task failed'),
  );

async function createJob(
  connection: Connection,
  flags: CreateFlags & ServerFlags,
  project: string | undefined,
): Promise<void> {
  const { api } = connection;
  const { inputs, wait, retries, retryOn, key } = flags;
  const inputsText = inputs === undefined ? undefined : await readText(inputs);
  const body: JobBody = {
    automation_id: await chooseSavedProject(connection, project),
    ...(await workOf(api, flags)),
    ...(inputsText === undefined ? {} : { inputs_text: inputsText }),
    ...(wait === undefined ? {} : { wait_seconds: wait }),
    ...(retryOn.length > 0 ? { retries: { most: retries ?? 3, on: retryOn } } : {}),
    ...(retries !== undefined && retryOn.length === 0 ? { retries } : {}),
    ...(key === undefined ? {} : { key }),
  };
  const { job } = await api.call(jobRoutes.create, { body }).catch((error: unknown) => {
    const isOfFile = error instanceof ServiceError && error.code === 'invalid_inputs';
    throw isOfFile ? new CommandError(exitCodes.refused, `${inputs}: ${error.message}`) : error;
  });
  if (!flags.follow) {
    if (flags.json) printJson({ success: true, job });
    else console.log(printable(describe(job)));
    return;
  }
  const ended = await follow(api, job);
  if (flags.json) printJson({ success: true, job: ended });
  else console.log(printable(describe(ended)));
  if (ended.status !== 'completed')
    throw new CommandError(exitCodes.failed, `The job ended as ${ended.status}.`);
}

const followEveryMs = 1000;

async function follow(api: ApiClient, job: Job): Promise<Job> {
  let [current, said] = [job, ''];
  for (;;) {
    const text = describe(current);
    if (text !== said) notice(text);
    said = text;
    if (current.ended_at !== null) return current;
    await new Promise((resolve) => setTimeout(resolve, followEveryMs));
    current = (await api.call(jobRoutes.get, { params: { id: job.id } })).job;
  }
}

async function readText(file: string): Promise<string> {
  return readFile(file, 'utf8').catch(() => {
    throw usageError(`${file} cannot be read: pass the path of a CSV or JSON Lines file.`);
  });
}

function addReadCommands(jobs: PlainCommand): void {
  serverCommand(jobs, 'show', {
    about: 'show a job, its tasks, its place in the queue, and why it waits',
    json: 'print the job and all of its tasks as JSON',
    build: withJob,
    async run({ api }, { json }, id) {
      const { job } = await api.call(jobRoutes.get, { params: { id } });
      const tasks = await readAll(
        (query) => api.call(jobRoutes.listTasks, { params: { id }, query }),
        (page) => page.tasks,
      );
      if (json) return printJson({ success: true, job, tasks });
      console.log(printable(`${describe(job)}\n`));
      const devices = await listDevices(api);
      printTable(
        {
          flexible: 'outcome',
          rows: tasks.map((task) => taskRow(task, (device) => serialOf(devices, device))),
        },
        'No tasks.',
      );
    },
  });
  serverCommand(jobs, 'results', {
    about: 'export the inputs and results of a job as a table',
    json: false,
    build: (command: Command) =>
      withJob(command)
        .addOption(new Option('--format <format>', 'output format').choices(['csv', 'jsonl']).default('csv'))
        .option('--out <file>', 'output file; default: standard output'),
    async run({ api }, { format, out }, id) {
      const text = await api.text(jobRoutes.results, { params: { id }, query: { format } });
      if (out === undefined) process.stdout.write(text);
      else await writeFile(out, text);
    },
  });
}

function addChangeCommands(jobs: PlainCommand): void {
  for (const [name, route, about] of [
    ['cancel', jobRoutes.cancel, 'cancel a job: drop its waiting tasks, and stop its runs'],
    ['resume', jobRoutes.resume, 'queue the failed and cancelled tasks of a job again'],
  ] as const)
    serverCommand(jobs, name, {
      about,
      json: false,
      build: withJob,
      async run({ api }, _, id) {
        console.log(printable(describe((await api.call(route, { params: { id } })).job)));
      },
    });
}

const withJob = (command: Command) => command.argument('<job>', 'ID');

function describe({ id, project_name: project, status, reason, tasks }: Job): string {
  const counts = Object.entries(tasks).flatMap(([name, count]) => (count === 0 ? [] : [`${count} ${name}`]));
  return [`Job ${id} of ${project}: ${status}, tasks: ${counts.join(', ')}.`, reason]
    .filter(Boolean)
    .join(' ');
}

const row = (job: Job): Record<string, string> => ({
  job: job.id,
  project: job.project_name,
  status: job.status,
  waiting: String(job.tasks.waiting),
  running: String(job.tasks.running),
  completed: String(job.tasks.completed),
  failed: String(job.tasks.failed + job.tasks.cancelled),
  phones: job.selector ?? `${job.device_ids?.length ?? 0} devices`,
  age: formatAge(job.created_at),
});

const taskRow = (task: Task, serial: (deviceId: string) => string): Record<string, string> => ({
  task: String(task.number),
  status: task.status,
  device: task.device_id === null ? '-' : serial(task.device_id),
  attempts: String(task.attempts.length),
  run: task.run_id ?? '-',
  outcome: task.error?.message ?? (task.result === null ? '' : JSON.stringify(task.result)),
});

function parseRetries(text: string): number {
  const retries = Number(text);
  if (text !== '' && Number.isInteger(retries) && retries >= 0 && retries <= 20) return retries;
  throw new InvalidArgumentError('Expected a whole number from 0 to 20.');
}

function reasonOf(text: string): RetryReason {
  const reason = retryReasons.find((one) => one === text);
  if (reason !== undefined) return reason;
  throw new InvalidArgumentError(`Expected one of ${retryReasons.join(', ')}.`);
}
