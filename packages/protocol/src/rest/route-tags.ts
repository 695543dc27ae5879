/** Descriptions of the groups of endpoints. */
export const routeTags = {
  Launches: 'Start and stop automations on devices.',
  Jobs: 'Work that waits for free devices: one task for each row of a table of inputs.',
  Schedules: 'Jobs that are created repeatedly, at the times of a cron expression.',
  Webhooks: 'Notifications to other services about events, and their deliveries.',
  Logs: 'Console output of automations.',
  Runs: 'Executions of automations, each on one device, with their outcomes, logs, files and films.',
  Stats: 'Statistics: number of runs, their outcomes, and device utilization.',
  Devices: 'Devices, their state, and control by hand.',
  Projects: 'Saved automations and their members.',
  Files: 'The files of a project. TypeScript is checked and compiled on write.',
  Commits: 'The history of a project, which is a git repository.',
  Records:
    'Out-of-steps records: screens captured when an automation met an unknown screen, ran out of steps, timed out, crashed or sent debug data.',
  Events: 'A stream of changes of devices, runs, logs, records, groups and replays.',
  Account: 'Users and their API tokens.',
  Audit: 'The audit log: which user did what, with which token, from which address.',
  Hosts: 'Endpoints for hosts, the program on the machine that the devices are connected to.',
  Service: 'Health and metrics of the service, and its documentation.',
} as const;
