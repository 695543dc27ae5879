import type { Command } from '@commander-js/extra-typings';
import { helpRoutes } from '@phalanx/protocol';
import type { Command as PlainCommand } from 'commander';

import type { Connection } from '../../connection/connection.ts';
import { type OptionsOf, serverCommand, type ServerFlags } from '../../connection/server-command.ts';
import { CommandError, exitCodes } from '../../exit-codes.ts';
import { printable } from '../../output/terminal.ts';
import { printJson } from '../../output/table.ts';

/** `phalanx docs` */
export function addDocsCommand(program: PlainCommand): void {
  serverCommand(program, 'docs', {
    about: "search the documentation of the server's version, or print a page of it",
    build: docsOptions,
    help: `Examples:
  phalanx docs device_leased
  phalanx docs --page automation/waits`,
    run: showDocs,
  });
}

const docsOptions = (command: Command) =>
  command
    .argument(
      '[words...]',
      'search words, such as "wait for a text", or an error code; without words, the pages are listed',
    )
    .option('--page <name>', 'print this page instead, such as "errors" or "types/agent.d.ts"');

const shownSections = 3;

async function showDocs(
  { api }: Connection,
  flags: OptionsOf<typeof docsOptions> & ServerFlags,
  words: string[],
): Promise<void> {
  if (flags.page !== undefined) {
    const reply = await api.call(helpRoutes.read, { query: { name: flags.page } });
    return flags.json ? printJson(reply) : console.log(printable(reply.text));
  }
  const query = words.join(' ').trim();
  if (query === '') {
    const reply = await api.call(helpRoutes.list, {});
    const width = Math.max(...reply.pages.map(({ name }) => name.length));
    const lines = reply.pages.map(({ name, title }) => `${name.padEnd(width)}  ${title}`);
    return flags.json ? printJson(reply) : console.log(printable(lines.join('\n')));
  }
  const reply = await api.call(helpRoutes.search, { query: { query } });
  if (flags.json) return printJson(reply);
  if (reply.results.length === 0)
    throw new CommandError(exitCodes.failed, 'No page of the documentation contains these words.');
  const texts = reply.results.map(({ page, text }) => `[--page ${page.name}]\n${text}`);
  return console.log(printable(texts.slice(0, shownSections).join('\n\n')));
}
