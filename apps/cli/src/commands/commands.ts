import type { Command } from 'commander';

type Add = (program: Command) => void;

interface Source {
  /** Names of the commands that it adds. */
  names: readonly string[];
  load: () => Promise<Add>;
}

const heads = { callers: 'Commands that call a server:', service: 'Commands that run the service:' };

/** Commands in the order of the help. Loading all of them takes half a second, so each is loaded by its name. */
const sources: Readonly<Record<keyof typeof heads, readonly Source[]>> = {
  callers: [
    { names: ['devices'], load: async () => (await import('./fleet/devices.ts')).addDevicesCommand },
    { names: ['screen'], load: async () => (await import('./fleet/screen.ts')).addScreenCommand },
    { names: ['inspect'], load: async () => (await import('./fleet/screen.ts')).addInspectCommand },
    { names: ['act'], load: async () => (await import('./control/act.ts')).addActCommand },
    { names: ['input'], load: async () => (await import('./control/control.ts')).addInputCommand },
    {
      names: ['clipboard', 'send'],
      load: async () => (await import('./control/transfer.ts')).addTransferCommands,
    },
    { names: ['lease'], load: async () => (await import('./control/control.ts')).addLeaseCommand },
    { names: ['hosts'], load: async () => (await import('./fleet/devices.ts')).addHostsCommand },
    { names: ['shares'], load: async () => (await import('./code/shares.ts')).addShareCommands },
    { names: ['pools'], load: async () => (await import('./fleet/pools.ts')).addPoolCommands },
    { names: ['init'], load: async () => (await import('./code/register.ts')).addInitCommand },
    { names: ['project'], load: async () => (await import('./code/project.ts')).addProjectCommands },
    { names: ['secret'], load: async () => (await import('./code/secrets.ts')).addSecretCommands },
    { names: ['types'], load: async () => (await import('./code/types.ts')).addTypesCommand },
    { names: ['test'], load: async () => (await import('./evidence/test.ts')).addTestCommand },
    { names: ['replay'], load: async () => (await import('./evidence/replay.ts')).addReplayCommand },
    { names: ['dev'], load: async () => (await import('./runs/dev/dev.ts')).addDevCommand },
    { names: ['run'], load: async () => (await import('./runs/run.ts')).addRunCommand },
    { names: ['exec'], load: async () => (await import('./runs/exec.ts')).addExecCommand },
    { names: ['jobs'], load: async () => (await import('./work/jobs.ts')).addJobCommands },
    { names: ['schedules'], load: async () => (await import('./work/schedules.ts')).addScheduleCommands },
    { names: ['webhooks'], load: async () => (await import('./work/webhooks.ts')).addWebhookCommands },
    { names: ['runs'], load: async () => (await import('./runs/list.ts')).addRunsCommand },
    { names: ['logs'], load: async () => (await import('./runs/logs.ts')).addLogsCommand },
    { names: ['trace'], load: async () => (await import('./runs/trace.ts')).addTraceCommand },
    { names: ['stats'], load: async () => (await import('./runs/stats.ts')).addStatsCommand },
    { names: ['stop'], load: async () => (await import('./runs/stop.ts')).addStopCommand },
    {
      names: ['records'],
      load: async () => (await import('./evidence/records/records.ts')).addRecordCommands,
    },
    { names: ['groups'], load: async () => (await import('./evidence/groups.ts')).addGroupCommands },
    { names: ['drift'], load: async () => (await import('./evidence/drift.ts')).addDriftCommand },
    { names: ['login', 'logout'], load: async () => (await import('./http/login.ts')).addLoginCommands },
    { names: ['token'], load: async () => (await import('./http/tokens.ts')).addTokenCommands },
    { names: ['user'], load: async () => (await import('./http/users.ts')).addUserCommands },
    { names: ['audit'], load: async () => (await import('./http/audit.ts')).addAuditCommand },
    { names: ['usage'], load: async () => (await import('./http/usage.ts')).addUsageCommand },
    { names: ['mcp'], load: async () => (await import('./operations/mcp.ts')).addMcpCommand },
    { names: ['docs'], load: async () => (await import('./operations/docs.ts')).addDocsCommand },
    {
      names: ['completion'],
      load: async () => (await import('./operations/completion.ts')).addCompletionCommand,
    },
  ],
  service: [
    { names: ['start'], load: async () => (await import('./operations/start.ts')).addStartCommand },
    { names: ['demo'], load: async () => (await import('./operations/demo.ts')).addDemoCommand },
    { names: ['server'], load: async () => (await import('./operations/server.ts')).addServerCommand },
    { names: ['host'], load: async () => (await import('./operations/host.ts')).addHostCommand },
    { names: ['simulate'], load: async () => (await import('./operations/simulate.ts')).addSimulateCommand },
    { names: ['doctor'], load: async () => (await import('./operations/doctor/doctor.ts')).addDoctorCommand },
    { names: ['phone'], load: async () => (await import('./fleet/phone.ts')).addPhoneCommand },
    { names: ['backup'], load: async () => (await import('./operations/data.ts')).addBackupCommand },
    { names: ['restore'], load: async () => (await import('./operations/data.ts')).addRestoreCommand },
    { names: ['check'], load: async () => (await import('./operations/data.ts')).addCheckCommand },
    { names: ['migrate'], load: async () => (await import('./operations/data.ts')).addMigrateCommand },
  ],
};

/** Adds the commands that `words` name. Adds all commands if `words` name no known one, because the help lists all. */
export async function addCommands(program: Command, words: readonly string[]): Promise<void> {
  const wanted = commandNames(words);
  const all = Object.values(sources).flat();
  const isKnown = wanted.length > 0 && wanted.every((name) => all.some(({ names }) => names.includes(name)));
  for (const part of ['callers', 'service'] as const) {
    program.commandsGroup(heads[part]);
    for (const { names, load } of sources[part])
      if (!isKnown || names.some((name) => wanted.includes(name))) (await load())(program);
  }
}

/** Returns the commands that a command line names. A completion request also names the command to complete. */
function commandNames([first = '', ...rest]: readonly string[]): string[] {
  if (first !== 'completion' || rest[0] !== 'words') return [first];
  const [, , name = '', ...behind] = rest;
  return behind.length === 0 ? [] : [first, name];
}
