import { hostSettings } from '@phalanx/host/config';
import { serverSettings } from '@phalanx/server/config';
import type { Command } from 'commander';

import { CommandError, exitCodes } from '../../../exit-codes.ts';
import { printJson } from '../../../output/table.ts';
import { printable } from '../../../output/terminal.ts';
import { addSettingFlags, settingsOf, simulatedPhonesSetting } from '../../../settings.ts';
import type { Finding } from './finding.ts';

const rows = [...serverSettings, ...hostSettings, simulatedPhonesSetting];
/** Settings with a flag of this command. The others come from the environment. */
const flagNames = new Set(['PHALANX_LISTEN', 'PHALANX_DATA_DIR', 'PHALANX_ADB_SERVER']);
const flagged = rows.filter(({ name }) => flagNames.has(name));

/** `phalanx doctor`: checks whether this machine can run the service and its phones. */
export function addDoctorCommand(program: Command): void {
  const command = program
    .command('doctor')
    .description('check whether this machine can run Phalanx: adb, phones, git, data folder, port and login')
    .option('--json', 'print the findings as JSON')
    .addHelpText(
      'after',
      `
The command changes nothing. It reads the same settings as "phalanx start", so run it in the same environment and as the
same user. It exits with 1 if it finds a problem.`,
    )
    .action(async ({ json = false }: { json?: boolean }) => {
      const findings = await examine(command);
      if (json) printJson(findings);
      else print(findings);
      const problems = findings.filter(({ state }) => state === 'problem').length;
      if (problems > 0)
        throw new CommandError(
          exitCodes.failed,
          `${problems} ${problems === 1 ? 'problem has' : 'problems have'} to be fixed.`,
        );
    });
  addSettingFlags(command, flagged);
}

async function examine(command: Command): Promise<Finding[]> {
  const settings = settingsOf(command, flagged);
  const { checkService } = await import('./check-service.ts');
  const { checkPhones } = await import('./check-phones.ts');
  const { checkLogin } = await import('./check-login.ts');
  return [...(await checkService(settings)), ...(await checkPhones(settings)), await checkLogin()];
}

const marks: Readonly<Record<Finding['state'], string>> = { ok: 'ok', note: 'note', problem: 'PROBLEM' };

function print(findings: readonly Finding[]): void {
  const widths = { mark: 7, part: Math.max(...findings.map(({ part }) => part.length)) };
  for (const { part, state, text } of findings)
    console.log(printable(`${marks[state].padEnd(widths.mark)}  ${part.padEnd(widths.part)}  ${text}`));
}
