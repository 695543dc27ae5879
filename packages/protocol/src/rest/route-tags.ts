/** What the groups of endpoints are about. */
export const routeTags = {
  Launches: 'Starting and stopping automations on devices.',
  Jobs: 'Runs that wait for free phones, one for each of a table of inputs.',
  Schedules: 'Jobs that are made again and again, at times of a cron expression.',
  Webhooks: 'Messages to other services about what happens, and what became of them.',
  Logs: 'What automations write to the console.',
  Runs: 'Executions of automations, one a device, and what became of them.',
  Devices: 'The phones, and what can be done with each of them now.',
  Projects: 'Automations that are saved, and who shares them.',
  Files: 'The files of a project. TypeScript is checked and compiled when it is written.',
  Commits: 'The history of a project, which is a git repository.',
  Records: 'Out-of-steps records: the screens of the moments that an author has to see.',
  Events: 'Devices, runs, logs, records and groups as they change.',
  Account: 'Users and their API tokens.',
  Audit: 'Who did what, with which token, from where.',
  Hosts: 'For the program beside the phones.',
  Service: 'The health of the service, and its documentation.',
} as const;
