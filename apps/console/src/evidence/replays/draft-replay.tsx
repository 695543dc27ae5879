import type { Project, Replay } from '@phalanx/protocol';
import { useQuery, useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';

import { useMe, useMissingScope } from '../../api/me.ts';
import { Button } from '../../parts/button.tsx';
import { Select } from '../../parts/field.tsx';
import { InlineFailure } from '../../parts/states.tsx';
import { groupName, groupQuery, groupsQuery } from '../records/record.tsx';
import { NotReplayable, Screens, verdictsQuery, replayQuery, boardText } from './replay.tsx';
import styles from './replays.module.css';
import { call } from '../../api/call.ts';

type Draft = ReturnType<typeof useDraftReplay>;

interface DraftReplayProps {
  project: Project;
  draft: Draft;
  onReplay: () => void;
}

/** Result of replaying saved screens with the editor's text, saved or not. */
export function DraftReplay({ project, draft, onReplay }: DraftReplayProps) {
  const [review, edit] = [useMissingScope('review'), useMissingScope('edit')];
  const notYours =
    project.role === 'shared_viewer' ? 'The project is shared with you as read-only.' : undefined;
  const { replay, error } = draft;
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls
    <div className={styles['draft']} tabIndex={0} role="region" aria-label="Replay of the draft">
      <div className={styles['draftBar']}>
        <Choice projectId={project.id} draft={draft} />
        <Button look="primary" reason={review ?? edit ?? notYours} isBusy={draft.isBusy} onClick={onReplay}>
          Replay
        </Button>
        <span role="status">{replay === undefined ? '' : statusText(replay)}</span>
      </div>
      {error !== null && <InlineFailure error={error} />}
      {replay === undefined && error === null && (
        <p className={styles['quiet']}>
          Replays saved screens with the text in the editor, saved or not. No phone is used, and nothing is
          saved.
        </p>
      )}
      {replay !== undefined && replay.ended_at !== null && <Result replay={replay} groupId={draft.groupId} />}
    </div>
  );
}

function Choice({ projectId, draft }: { projectId: string; draft: Draft }) {
  const me = useMe();
  const { data: groups = [] } = useQuery({
    ...groupsQuery({ automation: projectId }, me?.user.id ?? ''),
    enabled: me !== undefined,
  });
  const { data: chosen } = useQuery({
    ...groupQuery(draft.groupId ?? ''),
    enabled: draft.groupId !== undefined,
  });
  const isListed = groups.some(({ id }) => id === draft.groupId);
  const all = chosen === undefined || isListed ? groups : [chosen.group, ...groups];
  return (
    <Select
      label="Screens to replay"
      value={draft.screens}
      options={[
        { value: 'open', label: 'Open groups' },
        { value: 'all', label: 'All groups and golden screens' },
        ...all.map((group) => ({ value: group.id, label: `Group “${groupName(group)}”, and all others` })),
      ]}
      onChange={draft.choose}
    />
  );
}

function statusText(replay: Replay): string {
  const text = boardText(replay);
  return text === '' ? 'There is no screen to replay yet.' : text;
}

function Result({ replay, groupId }: { replay: Replay; groupId: string | undefined }) {
  const { counts } = replay;
  if (counts.screens === 0)
    return (
      <p className={styles['quiet']}>Screens come from groups of records, and from “phalanx records keep”.</p>
    );
  return (
    <>
      {groupId !== undefined && <OfGroup id={replay.id} groupId={groupId} />}
      <p>
        All screens: {counts.known} of {counts.screens} known
        {counts.golden > 0 && `, golden ${counts.golden_expected}/${counts.golden}`}
      </p>
      {counts.not_told > 0 && <NotReplayable count={counts.not_told} />}
      {counts.recognised + counts.broken > 0 && <Screens replay={replay} onlyChanged />}
    </>
  );
}

/** Whether the draft solves the group. */
function OfGroup({ id, groupId }: { id: string; groupId: string }) {
  const { data, error } = useQuery(verdictsQuery(id, false, groupId));
  if (error !== null) return <InlineFailure error={error} />;
  if (data === undefined) return null;
  const handled = data.filter(({ outcome }) => outcome === 'handled').length;
  const recognised = handled + data.filter(({ outcome }) => outcome === 'recognised').length;
  return (
    <p>
      This group: recognised {recognised}/{data.length}, handled {handled}/{data.length}
    </p>
  );
}

/**
 * Screens to replay: the set `open` or `all`, or else the ID of a group, which is replayed together with all others.
 */
type DraftScreens = string;

/** Replays unsaved text. `groupId` comes from the address. */
export function useDraftReplay(projectId: string, groupId: string | undefined) {
  const queries = useQueryClient();
  const [screens, setScreens] = useState<DraftScreens>(groupId ?? 'open');
  const [id, setId] = useState<string>();
  const { data: replay } = useQuery({ ...replayQuery(id ?? ''), enabled: id !== undefined });
  const starting = useMutation({
    mutationFn: async (drafts: ReadonlyMap<string, string>) => {
      const files = Array.from(drafts, ([path, content]) => ({ path, content }));
      const body = { files, set: screens === 'open' ? ('open' as const) : ('all' as const) };
      return (await call('POST /api/v2/automation/replay/:id', { params: { id: projectId }, body })).replay;
    },
    onSuccess: async (started) => {
      setId(started.id);
      await queries.invalidateQueries({ queryKey: ['replays', 'list'] });
    },
  });
  return {
    screens,
    choose: setScreens,
    groupId: screens === 'open' || screens === 'all' ? undefined : screens,
    replay,
    error: starting.error,
    isBusy: starting.isPending || (replay !== undefined && replay.ended_at === null),
    start: (drafts: ReadonlyMap<string, string>) => starting.mutateAsync(drafts).catch(() => undefined),
  };
}
