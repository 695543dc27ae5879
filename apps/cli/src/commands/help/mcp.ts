import { homedir } from 'node:os';
import { type Command, Argument } from 'commander';

import { addConnectionOptions, connect, type ConnectionFlags } from '../../connection/connection.ts';
import { configurationOf, mcpClients, writeClientFile } from '../../mcp/client-files.ts';
import { skill } from '../../mcp/skill.ts';
import { bridge } from '../../mcp/stdio-bridge.ts';
import { notice } from '../../output/notice.ts';
import { printJson } from '../../output/table.ts';

/** `phalanx mcp`: the server's MCP tools for programs that start a command. */
export function addMcpCommand(program: Command): void {
  const command = program
    .command('mcp')
    .description('speak the Model Context Protocol on standard input and output, for coding agents')
    .addHelpText(
      'after',
      `
A coding agent starts it; it passes messages on to /mcp of the server of your login. Programs that speak HTTP need no
command: give them the address SERVER/mcp and a token. What the token may do decides which tools there are: one with the
scope "read" alone touches nothing.

Examples:
  phalanx mcp install                 # what to write into the configuration of each program
  phalanx mcp install claude-code     # write it`,
    )
    .action(async (flags: ConnectionFlags) => {
      const { serverUrl, token } = await connect(flags);
      const write = (line: string): void => void process.stdout.write(`${line}\n`);
      await bridge(process.stdin, { serverUrl, token, write, warn: notice });
    });
  addConnectionOptions(command);
  addInstallCommand(command);
  command
    .command('skill')
    .description('print a skill for coding agents that use a shell')
    .addHelpText(
      'after',
      '\nExample: mkdir -p .claude/skills/phalanx && phalanx mcp skill > .claude/skills/phalanx/SKILL.md',
    )
    .action(() => void process.stdout.write(skill));
}

function addInstallCommand(parent: Command): void {
  const names = Object.keys(mcpClients);
  parent
    .command('install')
    .description('print or write the configuration of a program that uses MCP')
    .addArgument(new Argument('[program]', 'write into its file').choices(names))
    .action(async (name: string | undefined) => {
      const client = name === undefined ? undefined : mcpClients[name];
      if (client === undefined) return printAll();
      const file = await writeClientFile(client, { project: process.cwd(), home: homedir() });
      console.log(`${client.title} starts "phalanx mcp" now: ${file}.`);
      notice('It uses your login: run "phalanx login" once, best with a token of its own.');
    });
}

function printAll(): void {
  for (const [name, client] of Object.entries(mcpClients)) {
    console.log(`${client.title}, in ${client.isOfProject ? '' : '~/'}${client.file.join('/')} ("${name}"):`);
    printJson(configurationOf(client));
  }
  console.log('Codex, in ~/.codex/config.toml:\n[mcp_servers.phalanx]\ncommand = "phalanx"\nargs = ["mcp"]');
}
