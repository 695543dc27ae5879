import { Argument, type Command } from 'commander';

import { complete, type NameKind, type Names } from '../../completion/complete.ts';
import { completionScripts } from '../../completion/scripts.ts';
import { connect } from '../../connection/connection.ts';
import { listDevices } from '../../launch/find-device.ts';
import { listProjects } from '../../launch/find-project.ts';

/** `phalanx completion`: what shells need to complete commands, options, phones and projects. */
export function addCompletionCommand(program: Command): void {
  const completion = program
    .command('completion')
    .description('print what makes your shell complete commands, phones and projects')
    .addHelpText(
      'after',
      `
Examples:
  source <(phalanx completion bash)          # in ~/.bashrc
  source <(phalanx completion zsh)           # in ~/.zshrc, after compinit
  phalanx completion fish > ~/.config/fish/completions/phalanx.fish`,
    );
  for (const [shell, script] of Object.entries(completionScripts))
    completion
      .command(shell)
      .description(`for ${shell}`)
      .action(() => void process.stdout.write(script));
  completion
    .command('words', { hidden: true })
    .description('print what may stand for the last of these words')
    .addArgument(new Argument('[words...]'))
    .action(async (words: readonly string[]) => {
      for (const word of await complete(program, words, serverNames)) console.log(word);
    });
}

/** Without a login or a server there are none. */
const serverNames: Names = { list: (kind) => readNames(kind).catch(() => []) };

async function readNames(kind: NameKind): Promise<string[]> {
  const { api } = await connect({});
  if (kind === 'device') return (await listDevices(api)).map(({ serial }) => serial);
  return (await listProjects(api)).map(({ name }) => name);
}
