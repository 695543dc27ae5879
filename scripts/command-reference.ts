import { addCommands } from '@phalanx/cli/commands';
import { createProgram } from '@phalanx/cli/create-program';
import { hostSettings } from '@phalanx/host/config';
import { serverSettings } from '@phalanx/server/config';
import type { Command } from 'commander';

const begin = '<!-- The commands: made from their help by scripts/write-reference.ts. -->';
const end = '<!-- The end of the commands. -->';
const columns = 100;

/** Options that are described only once: the connection on the page itself, settings on a separate page. */
const described: ReadonlySet<string | undefined> = new Set([
  '--server-url',
  '--token-file',
  '--token',
  ...[...serverSettings, ...hostSettings].map(
    ({ name }) =>
      `--${name
        .replace(/^PHALANX_/, '')
        .toLowerCase()
        .replaceAll('_', '-')}`,
  ),
]);

/** Replaces the part of the page that is generated from the program's own help. */
export async function withCommands(page: string): Promise<string> {
  const [head, rest = ''] = page.split(begin);
  const [, tail = ''] = rest.split(end);
  const program = createProgram();
  await addCommands(program, []);
  const parts = program.commands
    .filter((command) => command.name() !== 'help')
    .flatMap((command) => sectionsOf(command, []));
  return `${head}${begin}\n\n${parts.join('\n\n')}\n\n${end}${tail}`;
}

function sectionsOf(command: Command, above: readonly string[]): string[] {
  const words = [...above, command.name()];
  const level = '#'.repeat(above.length + 2);
  const own = [`${level} phalanx ${words.join(' ')}`, '```', helpOf(command), '```'].join('\n');
  const parts = command.commands.filter((one) => one.name() !== 'help');
  return [own, ...parts.flatMap((part) => sectionsOf(part, words))];
}

function helpOf(command: Command): string {
  let help = '';
  command.configureOutput({
    writeOut: (text) => (help += text),
    getOutHelpWidth: () => columns,
    getOutHasColors: () => false,
  });
  command.configureHelp({
    visibleOptions: ({ options }) => options.filter(({ long, hidden }) => !hidden && !described.has(long)),
  });
  command.outputHelp();
  return help.trim();
}
