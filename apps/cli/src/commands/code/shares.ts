import { Argument, type Command } from '@commander-js/extra-typings';
import type { ApiClient } from '@phalanx/client/api-client';
import { readAll } from '@phalanx/client/read-all';
import {
  accessRoutes,
  deviceMemberRoutes,
  hostRoutes,
  projectRoutes,
  type ReceivedShare,
  type ShareKind,
  shareRoutes,
} from '@phalanx/protocol';
import type { Command as PlainCommand } from 'commander';

import { serverCommand } from '../../connection/server-command.ts';
import { CommandError, exitCodes, usageError } from '../../exit-codes.ts';
import { formatAge } from '../../output/duration.ts';
import { printJson, printTable } from '../../output/table.ts';
import { printable, printMessage } from '../../output/terminal.ts';

/** `phalanx shares`, with `accept` and `refuse` */
export function addShareCommands(program: PlainCommand): void {
  const shares = serverCommand(program, 'shares', {
    about: 'list what others share with you: phones, hosts and projects',
    build: (command: Command) => command.option('--waiting', 'only shares that you have not accepted'),
    help: `Until you accept a share, you can use it only by its ID: --labels, --all-ready, jobs, schedules, pools, replays on your
hosts, statistics and webhooks leave it out.

Examples:
  phalanx shares --waiting
  phalanx shares accept device SIM0001
  phalanx shares refuse project checkout --owner ada`,
    async run({ api }, { waiting, json }) {
      const all = await listShares(api, waiting === true ? 'waiting' : undefined);
      if (json) return printJson({ success: true, shares: all, next_cursor: null });
      printTable({ flexible: 'name', rows: all.map(row) }, 'Nothing is shared with you.');
    },
  });
  serverCommand(shares, 'accept', {
    about: 'accept a share; from then on it is selected like your own',
    build: decisionOptions,
    async run({ api }, flags, kind, text) {
      const { id, owner, role } = await findShare(api, kind, { text, owner: flags.owner });
      const reply = await api.call(shareRoutes.accept, { body: { kind, id, owner_id: owner.id, role } });
      if (flags.json) return printJson(reply);
      console.log(printable(`Accepted the ${kind} ${reply.share.name} of ${owner.name}.`));
    },
  });
  serverCommand(shares, 'refuse', {
    about: 'refuse a share, or leave one that you have accepted',
    build: decisionOptions,
    async run({ api }, { owner, json }, kind, text) {
      const share = await findShare(api, kind, { text, owner });
      const { user } = await api.call(accessRoutes.me);
      const reply = await leave(api, share, user.id);
      if (json) printJson(reply);
      else printMessage(reply);
    },
  });
}

const decisionOptions = (command: Command) =>
  command
    .addArgument(new Argument('<kind>', 'kind of share').choices(['device', 'host', 'project'] as const))
    .argument('<share>', 'ID, or the name that "phalanx shares" shows')
    .option('--owner <owner>', 'name or ID of the owner, if several owners share one with this name');

const listShares = (api: ApiClient, state?: 'waiting'): Promise<ReceivedShare[]> =>
  readAll(
    (query) => api.call(shareRoutes.list, { query: { ...query, ...(state === undefined ? {} : { state }) } }),
    (page) => page.shares,
  );

const row = ({ kind, name, id, owner, role, shared_at, accepted_at }: ReceivedShare) => ({
  kind,
  name: name || '-',
  owner: owner.name,
  role,
  state: accepted_at === null ? 'waiting' : 'accepted',
  since: shared_at === null ? '-' : formatAge(accepted_at ?? shared_at),
  id,
});

/** Returns the share that `text` names. Throws if none or several match. */
async function findShare(
  api: ApiClient,
  kind: ShareKind,
  { text, owner: wanted }: { text: string; owner: string | undefined },
): Promise<ReceivedShare> {
  const ofOwner = ({ owner }: ReceivedShare): boolean =>
    wanted === undefined || owner.id === wanted.toLowerCase() || owner.name === wanted;
  const all = (await listShares(api)).filter((share) => share.kind === kind && ofOwner(share));
  const byId = all.filter(({ id }) => id.toLowerCase() === text.toLowerCase());
  const found = byId.length > 0 ? byId : all.filter(({ name }) => name === text);
  const [share, other] = found;
  if (share === undefined)
    throw new CommandError(
      exitCodes.refused,
      `No ${kind} "${text}" is shared with you: "phalanx shares" lists what is.`,
    );
  if (other === undefined) return share;
  throw usageError(`Several shares are called "${text}": pass the ID, or --owner.`);
}

function leave(api: ApiClient, { kind, id, owner }: ReceivedShare, userId: string) {
  const params = { id, user_id: userId };
  if (kind === 'project') return api.call(projectRoutes.deleteMember, { params });
  const routes = kind === 'device' ? deviceMemberRoutes : hostRoutes;
  return api.call(routes.deleteMember, { params, query: { owner_id: owner.id } });
}
