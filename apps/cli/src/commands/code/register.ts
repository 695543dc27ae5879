import { existsSync } from 'node:fs';
import { rmdir, readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Command } from '@commander-js/extra-typings';
import { projectRoutes, type Project } from '@phalanx/protocol';
import type { Command as PlainCommand } from 'commander';

import { addConnectionOptions, connect, type Connection } from '../../connection/connection.ts';
import { serverCommand, type ServerFlags } from '../../connection/server-command.ts';
import { confirm, notice, printMessage, quoted, printable } from '../../output/terminal.ts';
import { usageError } from '../../exit-codes.ts';
import { listProjects } from '../../launch/find-by-name.ts';
import { printJson, printTable } from '../../output/table.ts';
import {
  chooseProject,
  folderName,
  makeEmptyFolder,
  makeNamedFolder,
  findLinkedFolder,
  writeLink,
} from '../../project/project-folder.ts';
import { writeTypes } from '../../project/types/write-types.ts';
import { findKind, isBehindLink, writeBelow } from '../../project/local-files.ts';

/** `project create`, `list` and `delete` */
export function addRegisterCommands(project: PlainCommand): void {
  serverCommand(project, 'create', {
    about: 'create a project, and a folder with starter code for it',
    build: (command: Command) =>
      command
        .argument('<name>')
        .option(
          '--dir <folder>',
          'the folder, which may contain code; default: a new one named after the project',
        )
        .option('--no-folder', 'create the project only on the server'),
    help: `The folder gets main.ts, parameters.schema.json, types for your editor (.phalanx/types, tsconfig.json), .gitignore and
AGENTS.md with instructions for coding agents. Existing files stay as they are.

Examples:
  phalanx project create checkout && cd checkout && phalanx project push
  phalanx project create checkout --dir .`,
    run: createProject,
  });
  serverCommand(project, 'list', {
    about: 'list your projects and those shared with you, newest first',
    async run({ api }, { json }) {
      const projects = await listProjects(api);
      if (json) printJson({ success: true, projects, next_cursor: null });
      else
        printTable(
          { flexible: 'name', rows: projects.map(row) },
          'No projects yet: "phalanx project create NAME" creates one.',
        );
    },
  });
  serverCommand(project, 'delete', {
    about: 'delete a project with its files and commits',
    json: false,
    build: (command: Command) =>
      command.argument('<project>', 'ID or name').option('--yes', 'skip the confirmation prompt'),
    run: deleteProject,
  });
}

/** `phalanx init`: creates a project for the current folder. */
export function addInitCommand(program: PlainCommand): void {
  const command = program
    .command('init')
    .description('create a project for this folder, and add missing starter files')
    .argument('[name]', "project name; default: the folder's name")
    .option('--json', "print the API's reply")
    .addHelpText(
      'after',
      '\nShort for "phalanx project create NAME --dir .". Existing files stay as they are.',
    )
    .action(async (name: string | undefined, flags: ServerFlags) => {
      const linked = await findLinkedFolder();
      if (linked !== undefined)
        throw usageError(`${linked.root} already belongs to a project: "phalanx project push" saves it.`);
      const options = { ...flags, dir: '.', folder: true };
      await createProject(await connect(flags), options, name ?? path.basename(process.cwd()));
    });
  addConnectionOptions(command);
}

async function createProject(
  { api, serverUrl }: Connection,
  flags: { dir?: string; folder: boolean; json?: true },
  name: string,
): Promise<void> {
  const folder = flags.folder ? await prepareFolder(name, flags.dir) : undefined;
  const reply = await api.call(projectRoutes.create, { body: { name } }).catch(async (error: unknown) => {
    if (folder?.isNew === true) await rmdir(folder.root).catch(() => undefined);
    throw error;
  });
  const root = folder?.root;
  const { id } = reply.project;
  if (flags.json) printJson(reply);
  else console.log(printable(`Project "${reply.project.name}" has the ID ${id}.`));
  if (root === undefined) {
    notice(`Next: phalanx project clone ${id}   (or, in a folder with code: phalanx project link ${id})`);
    return;
  }
  const outer = await findLinkedFolder(path.dirname(root));
  if (outer !== undefined)
    notice(
      `${root} is inside ${outer.root}, the folder of another project: a push from there includes these files.`,
    );
  await writeLink(root, { id, server_url: serverUrl });
  await writeStarter(root);
  await writeTypes(root);
  const way = path.relative('.', root);
  const enter = way === '' ? '' : `cd ${quoted(way)} && `;
  notice(`${root} is linked to it. Next: ${enter}phalanx project push && phalanx run --all-ready --follow`);
}

/** Prepares the folder before the project is created, so that an unusable folder leaves no project behind. */
async function prepareFolder(
  name: string,
  dir: string | undefined,
): Promise<{ root: string; isNew: boolean }> {
  const root = path.resolve(dir ?? folderName(name, 'project'));
  const isNew = !existsSync(root);
  if (dir === undefined) await makeEmptyFolder(root);
  else makeNamedFolder(root);
  return { root, isNew };
}

const row = ({ id, name, role, accepted, created_at: created }: Project): Record<string, string> => ({
  id,
  name,
  role: accepted ? role : `${role}, waiting`,
  created: new Date(created).toISOString().slice(0, 10),
});

async function deleteProject(connection: Connection, flags: { yes?: true }, project: string): Promise<void> {
  const id = await chooseProject(connection, project);
  const { project: found } = await connection.api.call(projectRoutes.get, { params: { id } });
  const question = printable(`Delete "${found.name}" (${id}) with its files, commits and records for good?`);
  if (!flags.yes && !(await confirm(question)))
    throw usageError('Nothing was deleted: confirm with "y", or pass --yes.');
  printMessage(await connection.api.call(projectRoutes.delete, { params: { id } }));
}

const starter = fileURLToPath(new URL('../../../../../packages/automation/starter/', import.meta.url));

/** Target names. npm packs no `.gitignore` file, and tools would take a `tsconfig.json` for one of this repository. */
const places: Readonly<Record<string, string>> = { gitignore: '.gitignore', tsconfig: 'tsconfig.json' };
const placeOf = (name: string): string => places[name] ?? name;

/**
 * Writes the starter files of a new project: code that runs on any phone, its parameters, and instructions. Keeps
 * existing files. Returns the paths of the written files.
 */
async function writeStarter(root: string): Promise<string[]> {
  const hasCode = (await readdir(root)).some((name) => /^main\.[cm]?[jt]sx?$/.test(name));
  const names = (await listStarter()).filter(
    (name) => !hasCode || !/^(?:main\.|parameters\.|screens\/|tsconfig$)/.test(name),
  );
  const written: string[] = [];
  for (const name of names) {
    const place = placeOf(name);
    if ((await isBehindLink(root, place)) || (await findKind(path.join(root, place))) !== undefined) continue;
    await writeBelow(root, place, await readFile(path.join(starter, name)));
    written.push(place);
  }
  return written;
}

async function listStarter(): Promise<string[]> {
  const found = await readdir(starter, { recursive: true, withFileTypes: true });
  const files = found.filter((entry) => entry.isFile());
  return files.map(({ parentPath, name }) =>
    path.relative(starter, path.join(parentPath, name)).replaceAll('\\', '/'),
  );
}
