import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileRoutes, fixKinds, groupRoutes, type ReplyOf, type SignCandidate } from '@phalanx/protocol';
import { type Command, InvalidArgumentError, Option } from 'commander';

import { type ApiClient, ApiRefusal } from '../../../api-client.ts';
import { addConnectionOptions, connect, type ConnectionFlags } from '../../../connection/connection.ts';
import { CommandError, exitCodes, usageError } from '../../../exit-codes.ts';
import { printable } from '../../../output/terminal.ts';
import { printJson, printTable } from '../../../output/table.ts';
import { findPathProblem, isBehindLink, writeBelow } from '../../../project/local-files.ts';
import { findLinkedFolder } from '../../../project/project-folder.ts';

interface Flags extends ConnectionFlags {
  state?: string;
  kind?: (typeof fixKinds)[number];
  sign: number;
  write?: string | true;
  diff?: true;
  json?: true;
}

type Proposal = ReplyOf<typeof groupRoutes.propose>;

/** `phalanx groups propose` */
export function addProposeCommand(
  groups: Command,
  getGroupId: (api: ApiClient, text: string) => Promise<string>,
): void {
  const command = groups
    .command('propose')
    .description('propose signs that recognise the screens of a group, and the change of the code')
    .argument('<group>', 'its ID, or how that begins or ends')
    .option('--state <name>', 'what the code is to call the screen; by default made of its title')
    .addOption(
      new Option('--kind <kind>', 'a state, or an entry of the dialogs of runStages').choices(fixKinds),
    )
    .option('--sign <number>', 'which of the signs is written or shown', parseNumber, 1)
    .option(
      '--write [folder]',
      "write the changed files into a project's folder; by default the one you are in",
    )
    .addOption(new Option('--diff', 'print the change only').conflicts(['write', 'json']))
    .option('--json', "print the API's reply")
    .addHelpText(
      'after',
      `
Each sign holds on all kept screens of the group, and on no other saved screen of the automation. Nothing is saved on the
server: look at the change, try it with "phalanx test" or "phalanx replay", and push it.

Examples:
  phalanx groups propose 01a1fc26 --state RateDialog
  phalanx groups propose 01a1fc26 --kind dialog --diff | git apply
  phalanx groups propose 01a1fc26 --sign 2 --write shop`,
    )
    .action(async (text: string, { state, kind, ...flags }: Flags) => {
      const { api } = await connect(flags);
      const id = await getGroupId(api, text);
      const body = { ...(state === undefined ? {} : { state }), ...(kind === undefined ? {} : { kind }) };
      const proposal = await api.call(groupRoutes.propose, { params: { id }, body });
      const { group } = await api.call(groupRoutes.get, { params: { id } });
      if (flags.json) printJson(proposal);
      else if (flags.diff) console.log(changeOf(chosen(proposal, flags.sign)));
      else print(proposal, flags);
      if (flags.write !== undefined)
        await writeFix(api, { projectId: group.automation_id, ...flags, write: flags.write, proposal });
    });
  addConnectionOptions(command);
}

function parseNumber(text: string): number {
  if (/^[1-9]$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be the number of a sign.');
}

function chosen({ candidates, problem }: Proposal, number: number): SignCandidate {
  const candidate = candidates[number - 1];
  if (candidate !== undefined) return candidate;
  if (candidates.length === 0) throw new CommandError(exitCodes.failed, problem);
  throw usageError(`There is no sign ${number}: there are ${candidates.length}.`);
}

/** The change as a diff. Throws with the code to insert by hand when there is none. */
function changeOf({ files, problem, snippet }: SignCandidate): string {
  if (files.length > 0)
    return files
      .map(({ diff }) => printable(diff))
      .join('')
      .trimEnd();
  throw new CommandError(exitCodes.failed, printable(`${problem} To put in by hand:\n${snippet}`));
}

const fragileText: Record<SignCandidate['fragile'][number], string> = {
  opaque_id: 'the ID may be another one in the next version',
  text: 'a text',
  one_language: 'one language',
  one_app_version: 'one version of the app',
  seen_once: 'seen once',
};

function print(proposal: Proposal, { sign, write }: Flags): void {
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
  else console.log(printable(`${why} To put in by hand:\n\n${snippet}`).trimEnd());
}

interface Writing {
  projectId: string;
  proposal: Proposal;
  sign: number;
  write: string | true;
}

/** Writes nothing unless all files are as the server has them: a change of one's own would be lost. */
async function writeFix(api: ApiClient, { projectId, proposal, sign, write }: Writing): Promise<void> {
  const candidate = chosen(proposal, sign);
  if (candidate.files.length === 0) changeOf(candidate);
  const root = write === true ? (await findLinkedFolder())?.root : path.resolve(write);
  if (root === undefined)
    throw usageError(
      'This folder is of no project: name one, "--write FOLDER", or link it with "phalanx project link".',
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
      `${file} can't be written: ${problem ?? 'it lies behind a link'}.`,
    );
  const local = await readFile(path.join(root, file), 'utf8').catch(() => undefined);
  const saved = await readSaved(api, projectId, file);
  if (local === saved) return;
  throw new CommandError(
    exitCodes.failed,
    `${file} is not as the server has it: "phalanx project push" or "phalanx project pull" first. Nothing was written.`,
  );
}

async function readSaved(api: ApiClient, id: string, file: string): Promise<string | undefined> {
  try {
    return (await api.call(fileRoutes.read, { params: { id }, query: { path: file } })).content;
  } catch (error) {
    if (error instanceof ApiRefusal) return undefined;
    throw error;
  }
}
