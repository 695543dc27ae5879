import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';

import { CommandError, exitCodes } from '../exit-codes.ts';

interface McpClient {
  readonly title: string;
  /** Its configuration, from the folder of the project or from the home folder. */
  readonly file: readonly string[];
  readonly isOfProject: boolean;
  /** The name of the object that lists servers. */
  readonly list: string;
  readonly entry: object;
}

const started = { command: 'phalanx', args: ['mcp'] };

/** The programs whose configuration is JSON that we know. */
export const mcpClients: Readonly<Record<string, McpClient>> = {
  'claude-code': {
    ...{ title: 'Claude Code', file: ['.mcp.json'], isOfProject: true, list: 'mcpServers' },
    entry: { type: 'stdio', ...started },
  },
  cursor: {
    ...{ title: 'Cursor', file: ['.cursor', 'mcp.json'], isOfProject: true, list: 'mcpServers' },
    entry: started,
  },
  vscode: {
    ...{ title: 'VS Code', file: ['.vscode', 'mcp.json'], isOfProject: true, list: 'servers' },
    entry: { type: 'stdio', ...started },
  },
  gemini: {
    ...{ title: 'Gemini CLI', file: ['.gemini', 'settings.json'], isOfProject: true, list: 'mcpServers' },
    entry: started,
  },
  windsurf: {
    title: 'Windsurf',
    file: ['.codeium', 'windsurf', 'mcp_config.json'],
    ...{ isOfProject: false, list: 'mcpServers', entry: started },
  },
};

export const configurationOf = ({ list, entry }: McpClient): object => ({ [list]: { phalanx: entry } });

/** Adds the server to the client's file, and leaves all else in it as it is. Returns the file. */
export async function writeClientFile(
  { file, list, entry, isOfProject }: McpClient,
  folders: { readonly project: string; readonly home: string },
): Promise<string> {
  const target = path.join(isOfProject ? folders.project : folders.home, ...file);
  const known = await readObject(target);
  const servers: unknown = known[list] ?? {};
  if (typeof servers !== 'object' || servers === null || Array.isArray(servers)) throw unreadable(target);
  const text = JSON.stringify({ ...known, [list]: { ...servers, phalanx: entry } }, null, 2);
  await mkdir(path.dirname(target), { recursive: true });
  // A program that reads it meanwhile finds one or the other.
  await writeFile(`${target}.new`, `${text}\n`);
  await rename(`${target}.new`, target);
  return target;
}

async function readObject(file: string): Promise<Record<string, unknown>> {
  const text = await readFile(file, 'utf8').catch(() => '{}');
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  } catch {
    // As below.
  }
  throw unreadable(file);
}

const unreadable = (file: string): CommandError =>
  new CommandError(
    exitCodes.usage,
    `${file} is not JSON as expected, and was left as it is: add the lines that "phalanx mcp install" prints.`,
  );
