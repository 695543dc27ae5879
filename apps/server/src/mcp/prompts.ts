interface Prompt {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly text: string;
}

/** What a person picks in their program to begin with. */
export const prompts: readonly Prompt[] = [
  {
    name: 'write-automation',
    title: 'Write an automation',
    description: 'From a phone in hand to a project that ran on it',
    text: `Write an automation of Phalanx with me. Ask what it has to do, and on which phone.
1. take_device and read_screen. Go the way once by hand with act, and note which texts and IDs tell the screens.
2. write_project with dry_run until there are no mistakes, then write_project. Wait for what you expect on each screen; throw an error that says what was missing.
3. run_project on that phone with wait_s, read_run, repair. Then run it from another screen than the one that you began on.
4. Show me the code and the log. After my word: commit_project and give_back_device.`,
  },
  {
    name: 'repair-run',
    title: 'Repair a run',
    description: 'From a run that failed to a commit that mends it',
    text: `Repair a run of Phalanx with me. Ask for the run, or take the newest that failed from list_runs.
1. read_run, its newest record with read_record, and the code with read_project.
2. Say whether the app has changed, or the code was wrong from the start, and what tells you so.
3. Change as little as mends it: write_project with dry_run, then write_project, then run_project on one phone with wait_s.
4. Show me the change. After my word: commit_project with the record's ID in the message.`,
  },
];
