import { readAll } from '@phalanx/client/read-all';
import { type Command, Option } from '@commander-js/extra-typings';
import {
  chatNames,
  RunOutcome,
  type Webhook,
  type WebhookDelivery,
  webhookEventNames,
  WebhookFormat,
  webhookFormatFor,
  webhookRoutes,
} from '@phalanx/protocol';
import type { Command as PlainCommand } from 'commander';

import type { Connection } from '../../connection/connection.ts';
import { type OptionsOf, serverCommand, type ServerFlags } from '../../connection/server-command.ts';
import { parseCount } from '../../launch/work-options.ts';
import { formatAge } from '../../output/duration.ts';
import { printMessage, printable } from '../../output/terminal.ts';
import { paragraph, printJson, printTable, terminalCells } from '../../output/table.ts';
import { chooseSavedProject } from '../../project/project-folder.ts';
import { parseLimit } from '../../option-values.ts';

type CreateFlags = OptionsOf<typeof createOptions>;

/** `phalanx webhooks`: messages to other services about events. */
export function addWebhookCommands(program: PlainCommand): void {
  const webhooks = serverCommand(program, 'webhooks', {
    about: 'list webhooks: messages to other services about events',
    async run({ api }, { json }) {
      const all = await readAll(
        (query) => api.call(webhookRoutes.list, { query }),
        (page) => page.webhooks,
      );
      if (json) printJson({ success: true, webhooks: all, next_cursor: null });
      else
        printTable(
          { flexible: 'url', rows: all.map(row) },
          'No webhooks: see "phalanx webhooks create --help".',
        );
    },
  });
  serverCommand(webhooks, 'create', {
    about: 'create a webhook: messages to an address about chosen events',
    build: createOptions,
    help: `The secret is printed only once. Receivers verify signatures with it: docs/webhooks.md has an example. Chats and e-mails
have no secret.

Examples:
  phalanx webhooks create https://receiver.example/phalanx --events run.ended device.not_ready --outcomes failed timed_out lost
  phalanx webhooks create https://hooks.slack.com/services/T0/B0/KEY --format slack --events run.ended --outcomes failed timed_out lost
  phalanx webhooks create mailto:ada@example.com --events runs.failing host.gone`,
    run: createWebhook,
  });
  serverCommand(webhooks, 'show', {
    about: 'show a webhook and the health of its deliveries',
    build: withWebhook,
    async run({ api }, { json }, id) {
      const reply = await api.call(webhookRoutes.get, { params: { id } });
      if (json) return printJson(reply);
      for (const line of paragraph(details(reply.webhook), terminalCells())) console.log(line);
    },
  });
  addChangeCommands(webhooks);
  addDeliveryCommands(webhooks);
}

const withWebhook = (command: Command) => command.argument('<webhook>', 'ID');

const createOptions = (command: Command) =>
  command
    .argument('<url>', 'http or https URL, or mailto: with an e-mail address')
    .addOption(
      new Option('--events <event...>', 'events to report').choices(webhookEventNames).makeOptionMandatory(),
    )
    .addOption(
      new Option(
        '--format <format>',
        'message format (slack and teams: sentences for a chat); default: phalanx, except for URLs of Slack and Teams',
      ).choices(WebhookFormat.enum),
    )
    .option('--name <name>', 'name of the webhook')
    .addOption(
      new Option('--outcomes <outcome...>', 'for run.ended: only runs with these outcomes').choices(
        RunOutcome.enum,
      ),
    )
    .option('--projects <project...>', 'only events of these projects (ID or name)')
    .option(
      '--minutes <count>',
      'for device.not_ready: minutes that a device must be not ready; default: 10',
      parseCount,
    )
    .option(
      '--failing-percent <percent>',
      'for runs.failing: minimum percentage of runs without success; default: 50',
      parseCount,
    )
    .option(
      '--failing-hours <hours>',
      'for runs.failing: period of the runs in hours; default: 24',
      parseCount,
    )
    .option('--silent-hours <hours>', 'for runs.none: hours without a launch; default: 24', parseCount)
    .addOption(
      new Option('--signature <kind>', 'v1: shared secret; v1a: key pair; default: v1').choices([
        'v1',
        'v1a',
      ]),
    )
    .option('--paused', 'create the webhook paused');

async function createWebhook(
  connection: Connection,
  flags: CreateFlags & ServerFlags,
  url: string,
): Promise<void> {
  const { events, name, outcomes, projects, minutes, signature, paused } = flags;
  const format = flags.format ?? webhookFormatFor(url);
  const projectIds: string[] = [];
  for (const project of projects ?? []) projectIds.push(await chooseSavedProject(connection, project));
  const body = {
    url,
    events,
    format,
    ...(name === undefined ? {} : { name }),
    ...(outcomes === undefined ? {} : { outcomes }),
    ...(projects === undefined ? {} : { project_ids: projectIds }),
    ...(minutes === undefined ? {} : { not_ready_minutes: minutes }),
    ...(flags.failingPercent === undefined ? {} : { failing_percent: flags.failingPercent }),
    ...(flags.failingHours === undefined ? {} : { failing_hours: flags.failingHours }),
    ...(flags.silentHours === undefined ? {} : { silent_hours: flags.silentHours }),
    ...(signature === undefined ? {} : { signature }),
    ...(paused === undefined ? {} : { paused }),
  };
  const reply = await connection.api.call(webhookRoutes.create, { body });
  if (flags.json) return printJson(reply);
  console.log(`Webhook ${reply.webhook.id}`);
  console.log(keyText(reply));
}

function addChangeCommands(webhooks: PlainCommand): void {
  for (const [name, paused, about] of [
    ['pause', true, 'pause a webhook: report no events until it is resumed'],
    ['resume', false, 'resume a webhook: report events from now on, and send waiting deliveries'],
  ] as const)
    serverCommand(webhooks, name, {
      about,
      build: withWebhook,
      async run({ api }, { json }, id) {
        const reply = await api.call(webhookRoutes.change, { params: { id }, body: { paused } });
        if (json) printJson(reply);
        else console.log(paused ? 'The webhook is paused.' : 'The webhook reports events from now on.');
      },
    });
  serverCommand(webhooks, 'delete', {
    about: 'delete a webhook with its deliveries',
    build: withWebhook,
    async run({ api }, { json }, id) {
      const reply = await api.call(webhookRoutes.delete, { params: { id } });
      if (json) printJson(reply);
      else printMessage(reply);
    },
  });
  serverCommand(webhooks, 'rotate', {
    about: 'create a new secret; the previous one stays valid for 24 hours',
    build: withWebhook,
    async run({ api }, { json }, id) {
      const reply = await api.call(webhookRoutes.rotate, { params: { id } });
      if (json) printJson(reply);
      else console.log(keyText(reply));
    },
  });
}

function addDeliveryCommands(webhooks: PlainCommand): void {
  serverCommand(webhooks, 'test', {
    about: 'send a test message (type webhook.test)',
    build: withWebhook,
    async run({ api }, { json }, id) {
      const reply = await api.call(webhookRoutes.test, { params: { id } });
      if (json) printJson(reply);
      else console.log(onItsWay(id, reply.delivery));
    },
  });
  serverCommand(webhooks, 'deliveries', {
    about: 'list the deliveries of a webhook, newest first',
    build: (command: Command) =>
      withWebhook(command).option('--limit <count>', 'maximum number of deliveries', parseLimit, 20),
    async run({ api }, { limit, json }, id) {
      const reply = await api.call(webhookRoutes.listDeliveries, { params: { id }, query: { limit } });
      if (json) printJson(reply);
      else printTable({ flexible: 'problem', rows: reply.deliveries.map(deliveryRow) }, 'No deliveries yet.');
    },
  });
  serverCommand(webhooks, 'replay', {
    about: 'send a delivery again',
    build: (command: Command) => withWebhook(command).argument('<delivery>', 'ID'),
    async run({ api }, { json }, id, deliveryId) {
      const reply = await api.call(webhookRoutes.replay, { params: { id, deliveryId } });
      if (json) printJson(reply);
      else console.log(onItsWay(id, reply.delivery));
    },
  });
}

/** Returns the text about the key of a webhook. Chats and e-mails have no secret, because they check no signature. */
function keyText({ webhook, secret }: { webhook: Webhook; secret: string | null }): string {
  if (webhook.format !== 'phalanx') return `The webhook sends messages to ${chatNames[webhook.format]}.`;
  if (secret !== null) return `Secret: ${secret}\nSave it now: it is not shown again.`;
  return webhook.public_key === null ? 'The webhook sends e-mails.' : `Public key: ${webhook.public_key}`;
}

const onItsWay = (id: string, delivery: WebhookDelivery): string =>
  `Delivery ${delivery.id} was queued: "phalanx webhooks deliveries ${printable(id)}" shows its status.`;

const timeText = (time: number | null): string => (time === null ? '' : new Date(time).toISOString());

const row = ({ id, name, url, format, events, health }: Webhook): Record<string, string> => ({
  webhook: id,
  name: name || '-',
  state: health.state,
  waiting: String(health.waiting),
  events: events.join(', '),
  url: addressOf({ url, format }),
});

/** Returns the URL to show. The path of a chat's URL is a secret: anyone who has it can post there. */
const addressOf = ({ url, format }: Pick<Webhook, 'url' | 'format'>): string =>
  format === 'phalanx' ? url : new URL(url).host;

const details = ({ health, ...webhook }: Webhook): Record<string, string> => ({
  webhook: webhook.id,
  name: webhook.name,
  url: addressOf(webhook),
  format: webhook.format,
  user: webhook.user.name,
  events: webhook.events.join(', '),
  outcomes: webhook.outcomes.join(', '),
  projects: webhook.project_ids.join(', '),
  'not ready': `${webhook.not_ready_minutes} min`,
  failing: `${webhook.failing_percent} % of the runs of ${webhook.failing_hours} h`,
  silent: `${webhook.silent_hours} h`,
  signature: webhook.signature,
  'public key': webhook.public_key ?? '',
  state: health.state,
  problem: webhook.problem,
  waiting: String(health.waiting),
  'last success': timeText(health.last_success_at),
  'failing since': timeText(health.failing_since),
  'last failure': health.last_failure,
});

const deliveryRow = (delivery: WebhookDelivery): Record<string, string> => ({
  delivery: delivery.id,
  event: delivery.payload.type,
  made: `${formatAge(delivery.created_at)} ago`,
  status: delivery.status,
  attempts: String(delivery.attempts),
  response: String(delivery.response_status ?? '-'),
  next: timeText(delivery.next_attempt_at),
  problem: delivery.problem,
});
