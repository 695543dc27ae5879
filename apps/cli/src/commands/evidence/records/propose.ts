import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { type Command, InvalidArgumentError, Option } from '@commander-js/extra-typings';
import type { ApiClient } from '@phalanx/client/api-client';
import { ServiceError } from '@phalanx/client/service-errors';
import { fileRoutes, fixKinds, groupRoutes, type ReplyOf, type SignCandidate } from '@phalanx/protocol';
import type { Command as PlainCommand } from 'commander';

import { type OptionsOf, serverCommand } from '../../../connection/server-command.ts';
import { CommandError, exitCodes, usageError } from '../../../exit-codes.ts';
import { printable } from '../../../output/terminal.ts';
import { printJson, printTable } from '../../../output/table.ts';
import { findPathProblem, isBehindLink, writeBelow } from '../../../project/local-files.ts';
import { findLinkedFolder } from '../../../project/project-folder.ts';

type Proposal = ReplyOf<typeof groupRoutes.propose>;

/** `phalanx groups propose` */
export function addProposeCommand(
  groups: PlainCommand,
  getGroupId: (api: ApiClient, text: string) => Promise<string>,
): void {
  serverCommand(groups, 'propose', {
    about: 'propose signs that recognise the screens of a group, and the code change',
    build: proposeOptions,
    help: `Each sign matches all kept screens of the group, and no other saved screen of the automation. Nothing is saved on the
server: review the change, try it with "phalanx test" or "phalanx replay", and push it.

Examples:
  phalanx groups propose 01a1fc26 --state RateDialog
  phalanx groups propose 01a1fc26 --kind dialog --diff | git apply
  phalanx groups propose 01a1fc26 --sign 2 --write shop`,
    async run({ api }, { state, kind, ...flags }, text) {
      const id = await getGroupId(api, text);
      const body = { ...(state === undefined ? {} : { state }), ...(kind === undefined ? {} : { kind }) };
      const proposal = await api.call(groupRoutes.propose, { params: { id }, body });
      const { group } = await api.call(groupRoutes.get, { params: { id } });
      if (flags.json) printJson(proposal);
      else if (flags.diff) console.log(changeOf(chosen(proposal, flags.sign)));
      else print(proposal, flags);
      if (flags.write !== undefined)
        await writeFix(api, { projectId: group.automation_id, ...flags, write: flags.write, proposal });
    },
  });
}

const proposeOptions = (command: Command) =>
  command
    .argument('<group>', 'group ID, or its beginning or end (at least 4 characters)')
    .option('--state <name>', 'state name for the screen in the code; default: made from its title')
    .addOption(
      new Option(
        '--kind <kind>',
        'form of the change: a state, or an entry in the dialogs of runStages',
      ).choices(fixKinds),
    )
    .option('--sign <number>', 'number of the sign to write or show', parseNumber, 1)
    .option('--write [folder]', "write the changed files into a project's folder; default: the current one")
    .addOption(new Option('--diff', 'print only the change, as a diff').conflicts(['write', 'json']));

function parseNumber(text: string): number {
  if (/^[1-9]$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Expected the number of a sign.');
}

function chosen({ candidates, problem }: Proposal, number: number): SignCandidate {
  const candidate = candidates[number - 1];
  if (candidate !== undefined) return candidate;
  if (candidates.length === 0) throw new CommandError(exitCodes.failed, problem);
  throw usageError(`Sign ${number} does not exist: the proposal has ${candidates.length}.`);
}

/** Returns the change as a diff. If there is none, throws an error with the code to insert by hand. */
function changeOf({ files, problem, snippet }: SignCandidate): string {
  if (files.length > 0)
    return files
      .map(({ diff }) => printable(diff))
      .join('')
      .trimEnd();
  throw new CommandError(exitCodes.failed, printable(`${problem} Code to insert by hand:\n${snippet}`));
}

const fragileText: Record<SignCandidate['fragile'][number], string> = {
  opaque_id: 'the ID may change in the next version',
  text: 'a text',
  one_language: 'one language',
  one_app_version: 'one version of the app',
  seen_once: 'seen once',
};

function print(proposal: Proposal, { sign, write }: OptionsOf<typeof proposeOptions>): void {
  const { candidates, screens, others, problem } = proposal;
  const rows = candidates.map((candidate, index) => ({
    number: String(index + 1),
    sign: candidate.sign,
    holds: `${candidate.holds}/${screens}`,
    elsewhere: `${candidate.elsewhere}/${others}`,
    fragile: candidate.fragile.map((one) => fragileText[one]).join(', ') || '-',
  }));
  printTable({ flexible: 'sign', rows }, problem);
  if (candidates.length === 0 || write !== undefined) return;
  const { files, problem: why, snippet } = chosen(proposal, sign);
  console.log();
  if (files.length > 0) for (const { diff } of files) console.log(printable(diff).trimEnd());
  else console.log(printable(`${why} Code to insert by hand:\n\n${snippet}`).trimEnd());
}

interface Writing {
  projectId: string;
  proposal: Proposal;
  sign: number;
  write: string | true;
}

/** Writes the fix only if all files are the same as on the server: local changes would be lost. */
async function writeFix(api: ApiClient, { projectId, proposal, sign, write }: Writing): Promise<void> {
  const candidate = chosen(proposal, sign);
  if (candidate.files.length === 0) changeOf(candidate);
  const root = write === true ? (await findLinkedFolder())?.root : path.resolve(write);
  if (root === undefined)
    throw usageError(
      'This folder belongs to no project: pass one with --write FOLDER, or link it with "phalanx project link".',
    );
  for (const { path: file } of candidate.files) await requireUnchanged(api, { projectId, root, file });
  for (const { path: file, content } of candidate.files) {
    await writeBelow(root, file, content);
    console.log(printable(`Wrote ${path.join(root, file)}.`));
  }
}

async function requireUnchanged(
  api: ApiClient,
  { projectId, root, file }: { projectId: string; root: string; file: string },
): Promise<void> {
  const problem = findPathProblem(file);
  if (problem !== undefined || (await isBehindLink(root, file)))
    throw new CommandError(
      exitCodes.failed,
      `${file} cannot be written: ${problem ?? 'it is behind a symbolic link'}.`,
    );
  const local = await readFile(path.join(root, file), 'utf8').catch(() => undefined);
  const saved = await readSaved(api, projectId, file);
  if (local === saved) return;
  throw new CommandError(
    exitCodes.failed,
    `${file} differs from the server, so nothing was written: run "phalanx project push" or "phalanx project pull" first.`,
  );
}

async function readSaved(api: ApiClient, id: string, file: string): Promise<string | undefined> {
  try {
    return (await api.call(fileRoutes.read, { params: { id }, query: { path: file } })).content;
  } catch (error) {
    if (error instanceof ServiceError) return undefined;
    throw error;
  }
}
