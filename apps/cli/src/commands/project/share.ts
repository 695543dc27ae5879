import { memberRoles, projectRoutes, type MemberRole } from '@phalanx/protocol';
import { type Command, Option } from 'commander';

import { addConnectionOptions, connect, type ConnectionFlags } from '../../connection/connection.ts';
import { getUserId } from '../../launch/find-user.ts';
import { printMessage } from '../../output/print-message.ts';
import { printable } from '../../output/printable.ts';
import { chooseProject } from '../../project/choose-project.ts';
import { addProjectOption } from './project-option.ts';

interface Flags extends ConnectionFlags {
  project?: string;
  role: MemberRole;
}

/** `project share` and `unshare` */
export function addShareCommands(project: Command): void {
  const share = project
    .command('share')
    .description('share a project with a user, or change their role')
    .argument('<user>', 'ID; administrators may give the name')
    .addOption(new Option('--role <role>', 'what they may do').choices(memberRoles).makeOptionMandatory())
    .addHelpText('after', '\nExample: phalanx project share ada --role shared_editor --project checkout')
    .action(async (user: string, flags: Flags) => {
      const connection = await connect(flags);
      const params = await memberOf(connection, user, flags.project);
      const { member } = await connection.api.call(projectRoutes.putMember, {
        params,
        body: { role: flags.role },
      });
      console.log(printable(`${member.name} is ${member.role} now.`));
    });
  const unshare = project
    .command('unshare')
    .description('stop sharing a project with a user')
    .argument('<user>', 'ID; administrators may give the name')
    .action(async (user: string, flags: ConnectionFlags & { project?: string }) => {
      const connection = await connect(flags);
      const params = await memberOf(connection, user, flags.project);
      printMessage(await connection.api.call(projectRoutes.deleteMember, { params }));
    });
  for (const command of [share, unshare]) addConnectionOptions(addProjectOption(command));
}

async function memberOf(
  connection: Awaited<ReturnType<typeof connect>>,
  user: string,
  project: string | undefined,
): Promise<{ id: string; user_id: string }> {
  const id = await chooseProject(connection, project);
  return { id, user_id: await getUserId(connection.api, user) };
}
