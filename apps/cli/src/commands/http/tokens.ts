import type { Command } from '@commander-js/extra-typings';
import type { ApiClient } from '@phalanx/client/api-client';
import { readAll } from '@phalanx/client/read-all';
import { accessRoutes, scopes, type Scope, type Token } from '@phalanx/protocol';
import { type Command as PlainCommand, InvalidArgumentError } from 'commander';

import type { Connection } from '../../connection/connection.ts';
import { type OptionsOf, serverCommand, type ServerFlags } from '../../connection/server-command.ts';
import { deviceIdOf, listDevices, getAutomationId, getUserId } from '../../launch/find-by-name.ts';
import { budgetText } from './usage.ts';
import { formatAge, formatDuration } from '../../output/duration.ts';
import { notice, printMessage } from '../../output/terminal.ts';
import { printJson, printTable } from '../../output/table.ts';
import { parseLimit, repeated } from '../../option-values.ts';

function parseScopes(text: string): Scope[] {
  const names = text.split(',').map((name) => name.trim());
  const known = scopes.filter((scope) => names.includes(scope));
  const unknown = names.filter((name) => !scopes.some((scope) => scope === name));
  if (unknown.length === 0) return known;
  throw new InvalidArgumentError(`Expected a comma-separated list of ${scopes.join(', ')}.`);
}

const dayMs = 24 * 60 * 60 * 1000;

/** Parses `30d`, or a time that JavaScript can parse. Returns a time with a zone, which the API requires. */
function parseExpiry(text: string): string {
  const days = /^(\d{1,4})d$/.exec(text)?.[1];
  const time = days === undefined ? Date.parse(text) : Date.now() + Number(days) * dayMs;
  const limit = 8.64e15;
  if (Math.abs(time) <= limit) return new Date(time).toISOString();
  throw new InvalidArgumentError(
    'Expected days such as 30d, or an ISO 8601 time such as 2030-01-31T00:00:00Z.',
  );
}

/** `phalanx token create|list|revoke` */
export function addTokenCommands(program: PlainCommand): void {
  const tokens = program.command('token').description('create, list and revoke API tokens');
  serverCommand(tokens, 'create', {
    about: 'create a token; only its secret is printed to standard output, and only once',
    build: createOptions,
    help: `Examples:
  phalanx token create "CI of the shop" --scopes read,launch --project checkout --expires 90d
  phalanx token create "night shift" --scopes read,launch --labels pool=night --max-phones 5
  phalanx token create "coding agent" --device SIM0001 --app com.example.shop --expires 1d
  phalanx token create "coding agent" --scopes read,launch --runs-per-day 50 --minutes-per-day 120
  PHALANX_TOKEN=$(phalanx token create "host in the lab" --scopes host) phalanx host`,
    run: createToken,
  });
  serverCommand(tokens, 'list', {
    about: "list your tokens; administrators see everyone's",
    async run({ api }, { json }) {
      const all = await readAll(
        (query) => api.call(accessRoutes.listTokens, { query }),
        (page) => page.tokens,
      );
      if (json) printJson({ success: true, tokens: all, next_cursor: null });
      else printTable({ flexible: 'name', rows: all.map(row) }, 'No tokens.');
    },
  });
  serverCommand(tokens, 'revoke', {
    about: 'revoke a token immediately',
    json: false,
    build: (command: Command) => command.argument('<id>', 'token ID; "phalanx token list" shows it'),
    async run({ api }, _, id) {
      printMessage(await api.call(accessRoutes.deleteToken, { params: { id } }));
    },
  });
}

const createOptions = (command: Command) =>
  command
    .argument('<name>', 'purpose of the token')
    .option(
      '--scopes <scopes>',
      `comma-separated list of ${scopes.join(', ')}; default: read,launch,edit,review`,
      parseScopes,
    )
    .option('--user <user>', 'owner of the token (ID or name); administrators only')
    .option('--project <project>', 'limit to this project (ID or name; repeatable)', repeated, [])
    .option('--device <device>', 'limit to this phone (repeatable)', repeated, [])
    .option('--labels <selector>', 'limit to matching phones, such as country=de,model~Pixel')
    .option('--max-phones <count>', 'maximum number of phones in one launch', parseLimit)
    .option(
      '--app <package>',
      'limit to this app on phones, such as com.example.shop or com.example.* (repeatable)',
      repeated,
      [],
    )
    .option('--runs-per-day <count>', 'maximum number of runs started per day (UTC)', parseLimit)
    .option('--minutes-per-day <count>', 'maximum total minutes of runs per day (UTC)', parseLimit)
    .option('--expires <when>', 'days from now (30d) or an ISO 8601 time; default: one year', parseExpiry);

type CreateFlags = OptionsOf<typeof createOptions>;

async function createToken(
  { api }: Connection,
  flags: CreateFlags & ServerFlags,
  name: string,
): Promise<void> {
  const body = { name, ...(await limitsOf(api, flags)) };
  const reply = await api.call(accessRoutes.createToken, { body });
  if (flags.json) return printJson(reply);
  const { token, secret } = reply;
  const end =
    token.expires_at === null ? 'never expires' : `expires ${new Date(token.expires_at).toISOString()}`;
  notice(
    `Token "${token.name}" (${token.scopes.join(', ')}; ${end}; ID ${token.id}). Its secret, shown this once:`,
  );
  console.log(secret);
}

async function limitsOf(api: ApiClient, flags: CreateFlags) {
  const { scopes: wanted, user, project, expires, labels, maxPhones } = flags;
  const projectIds: string[] = [];
  for (const text of project) projectIds.push(await getAutomationId(api, text));
  return {
    ...(wanted === undefined ? {} : { scopes: wanted }),
    ...(user === undefined ? {} : { user_id: await getUserId(api, user) }),
    ...(projectIds.length === 0 ? {} : { project_ids: projectIds }),
    ...(labels === undefined ? {} : { selector: labels }),
    ...(flags.device.length === 0 ? {} : { device_ids: await deviceIdsOf(api, flags.device) }),
    ...(maxPhones === undefined ? {} : { max_phones: maxPhones }),
    ...(flags.app.length === 0 ? {} : { apps: flags.app }),
    ...(flags.runsPerDay === undefined ? {} : { runs_per_day: flags.runsPerDay }),
    ...(flags.minutesPerDay === undefined ? {} : { minutes_per_day: flags.minutesPerDay }),
    ...(expires === undefined ? {} : { expires_at: expires }),
  };
}

async function deviceIdsOf(api: ApiClient, wanted: readonly string[]): Promise<string[]> {
  const devices = await listDevices(api);
  return wanted.map((text) => deviceIdOf(devices, text));
}

const row = (token: Token): Record<string, string> => ({
  id: token.id,
  name: token.name,
  scopes: token.scopes.join(','),
  projects: token.project_ids === null ? 'all' : String(token.project_ids.length),
  phones: token.selector ?? 'all',
  apps: token.apps?.join(',') ?? 'all',
  today: token.budget === null ? '' : budgetText(token.budget),
  expires: token.expires_at === null ? 'never' : untilExpiry(token.expires_at),
  'last used': token.last_used_at === null ? 'never' : `${formatAge(token.last_used_at)} ago`,
});

const untilExpiry = (epochMs: number): string =>
  epochMs <= Date.now() ? 'expired' : `in ${formatDuration(epochMs - Date.now())}`;
