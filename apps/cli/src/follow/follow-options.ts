import type { Command } from 'commander';

export interface FollowFlags {
  follow?: true;
  junit?: string;
}

export function addFollowOptions(command: Command): Command {
  return command
    .option('-f, --follow', 'print the logs of all devices until every run has ended')
    .option('--junit <file>', 'follow, and write a JUnit report with a test case for each device');
}

export const follows = ({ follow, junit }: FollowFlags): boolean => follow === true || junit !== undefined;
