import type { Run } from '@phalanx/protocol';

/** The commit of the code that ran, and whether it had uncommitted changes; nothing for direct code. */
export function RunVersion({ run: { launch_id, commit, dirty } }: { run: Run }) {
  if (launch_id !== null) return null;
  if (commit === null) return <>uncommitted</>;
  const short = commit.slice(0, 8);
  return dirty === true ? (
    <span title={`Commit ${short} with uncommitted changes`}>
      <code>{short}</code> + changes
    </span>
  ) : (
    <code title={`Commit ${commit}`}>{short}</code>
  );
}
