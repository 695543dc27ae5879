import { ServiceError } from '@phalanx/client/service-errors';
import type { Project } from '@phalanx/protocol';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { type CSSProperties, useState } from 'react';

import { MembersDialog } from '../../http/access/members-dialog.tsx';
import { call } from '../../api/call.ts';
import { useMe, useMissingScope } from '../../api/me.ts';
import { Button } from '../../parts/button.tsx';
import { ActionDialog } from '../../parts/dialog.tsx';
import { Field, TextArea } from '../../parts/field.tsx';
import { notify } from '../../parts/notices.tsx';
import { Page } from '../../parts/page.tsx';
import { Splitter, usePaneSize } from '../../parts/splitter.tsx';
import { Empty, Failure, InlineFailure, Loading } from '../../parts/states.tsx';
import { groupName, groupQuery } from '../../evidence/records/record.tsx';
import { ReplayLink, replaysQuery } from '../../evidence/replays/replay.tsx';
import { CloneDialog } from './clone-dialog.tsx';
import { SecretHosts } from './secret-hosts.tsx';
import { DeleteProject, RenameProject, SecretsDialog } from './project-dialogs.tsx';
import type { Jump } from './editor/code-editor.tsx';
import { DiffList } from './diff-list.tsx';
import { FileList } from './file-list.tsx';
import { HistoryDialog } from './history-dialog.tsx';
import styles from './project.module.css';
import { draftsQuery, filesQuery, projectQuery } from './project.tsx';
import { Workspace } from './workspace.tsx';

const route = getRouteApi('/projects/$projectId');

export function ProjectPage() {
  const { projectId } = route.useParams();
  const { data, error, refetch } = useQuery(projectQuery(projectId));
  const me = useMe();
  if (data !== undefined && me !== undefined)
    return <Shown key={projectId} project={data} userId={me.user.id} />;
  const isGone = error instanceof ServiceError && error.status === 404;
  return (
    <Page title="Project">
      {isGone ? (
        <Empty title="Project not found" action={<Link to="/projects">All projects</Link>}>
          It was deleted, or it is no longer shared with you.
        </Empty>
      ) : error === null ? (
        <Loading />
      ) : (
        <Failure error={error} onRetry={() => void refetch()} />
      )}
    </Page>
  );
}

type Popup =
  | 'commit'
  | 'history'
  | 'secrets'
  | 'secret hosts'
  | 'members'
  | 'clone'
  | 'rename'
  | 'delete'
  | undefined;
const parts = { files: 'Files', code: 'Code', run: 'Run' } as const;

function Shown({ project, userId }: { project: Project; userId: string }) {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const missing = useMissingScope('edit');
  const owner = useOwnerName(project);
  const notYours =
    project.role === 'shared_viewer'
      ? `${owner ?? 'Its owner'} shared this project as read-only.`
      : undefined;
  const notOwner = project.role === 'owner' ? undefined : 'Only the owner renames or deletes a project.';
  const reason = missing ?? notYours;
  const isReviewer = project.role !== 'shared_viewer';
  const { data: list } = useQuery(filesQuery(project.id));
  const [popup, setPopup] = useState<Popup>();
  const [part, setPart] = useState<keyof typeof parts>('code');
  const path =
    search.file ?? list?.files.find((file) => file.change !== 'deleted' && file.path === 'main.ts')?.path;
  const sizes = usePaneSizes();
  const [jump, setJump] = useState<Jump>({ line: search.line });
  const open = (file: string, line?: number, offset?: number): void => {
    setPart('code');
    setJump({ line, offset });
    void navigate({
      search: ({ group }) => ({
        file,
        ...(line === undefined ? {} : { line }),
        ...(group === undefined ? {} : { group }),
      }),
    });
  };
  return (
    <Page
      title={project.name}
      parents={[{ label: 'Projects', link: { to: '/projects' } }]}
      aside={
        <>
          <SavedWords userId={userId} projectId={project.id} isDirty={list?.dirty} />
          {isReviewer && <NewestReplay projectId={project.id} />}
          {isReviewer && (
            <Link to="/projects/$projectId/versions" params={{ projectId: project.id }}>
              App versions
            </Link>
          )}
        </>
      }
      actions={
        <>
          <Button
            reason={reason ?? (list?.dirty === false ? 'Nothing to commit.' : undefined)}
            onClick={() => setPopup('commit')}
          >
            Commit…
          </Button>
          <Button look="quiet" onClick={() => setPopup('history')}>
            History
          </Button>
          <Button look="quiet" reason={notYours} onClick={() => setPopup('secrets')}>
            Secrets
          </Button>
          <Button look="quiet" onClick={() => setPopup('members')}>
            Share
          </Button>
          <Button look="quiet" onClick={() => setPopup('clone')}>
            Clone
          </Button>
          <Button look="quiet" reason={missing ?? notOwner} onClick={() => setPopup('rename')}>
            Rename…
          </Button>
          <Button look="quiet" reason={missing ?? notOwner} onClick={() => setPopup('delete')}>
            Delete…
          </Button>
        </>
      }
    >
      <div className={styles['layout']} data-shown={part} style={sizes.style}>
        <div className={styles['tabs']} role="group" aria-label="Parts of the page">
          {Object.entries(parts).map(([name, label]) => (
            <Button
              key={name}
              look={part === name ? 'plain' : 'quiet'}
              aria-pressed={part === name}
              onClick={() => setPart(name === 'files' ? 'files' : name === 'run' ? 'run' : 'code')}
            >
              {label}
            </Button>
          ))}
        </div>
        <FileList projectId={project.id} userId={userId} current={path} reason={reason} onOpen={open}>
          <Splitter label="Width of the file list" pane={sizes.files} edge="right" />
        </FileList>
        <Workspace {...{ project, userId, path, reason, jump }} groupId={search.group} onOpen={open}>
          <Splitter label="Width of the run pane" pane={sizes.run} edge="left" />
        </Workspace>
      </div>
      {popup === 'commit' && (
        <CommitDialog
          projectId={project.id}
          userId={userId}
          groupId={search.group}
          onClose={() => setPopup(undefined)}
        />
      )}
      {popup === 'history' && (
        <HistoryDialog
          projectId={project.id}
          hasReplays={isReviewer}
          reason={reason}
          onClose={() => setPopup(undefined)}
        />
      )}
      {popup === 'secrets' && (
        <SecretsDialog
          projectId={project.id}
          reason={reason}
          onHosts={() => setPopup('secret hosts')}
          onClose={() => setPopup(undefined)}
        />
      )}
      {popup === 'secret hosts' && (
        <SecretHosts
          projectId={project.id}
          reason={
            project.role === 'owner'
              ? reason
              : 'Only the owner of a project can choose whose hosts receive its secrets.'
          }
          onClose={() => setPopup('secrets')}
        />
      )}
      {popup === 'clone' && <CloneDialog project={project} onClose={() => setPopup(undefined)} />}
      {popup === 'rename' && <RenameProject project={project} onClose={() => setPopup(undefined)} />}
      {popup === 'delete' && <DeleteProject project={project} onClose={() => setPopup(undefined)} />}
      {popup === 'members' && <ShareProject project={project} onClose={() => setPopup(undefined)} />}
    </Page>
  );
}

/** Returns the name of the owner of a project that is shared with the caller. */
function useOwnerName({ id, role }: Project): string | undefined {
  const { data } = useQuery({
    queryKey: ['project', id, 'owner'],
    enabled: role !== 'owner',
    queryFn: ({ signal }) => {
      const input = { params: { id }, query: { limit: 1 } };
      return call('GET /api/v2/automation-project/:id/members', input, { signal });
    },
  });
  return data?.members.find((member) => member.role === 'owner')?.name;
}

interface SavedWordsProps {
  userId: string;
  projectId: string;
  isDirty: boolean | undefined;
}

/** Save state of the file and commit state of the project. */
function SavedWords({ userId, projectId, isDirty }: SavedWordsProps) {
  const { data: drafts = [] } = useQuery(draftsQuery(userId, projectId));
  if (isDirty === undefined) return null;
  const words = isDirty ? 'uncommitted changes' : 'all committed';
  return <span>{drafts.length === 0 ? words : `${drafts.length} unsaved, the rest: ${words}`}</span>;
}

/** Result of replaying saved screens with the newest code. */
function NewestReplay({ projectId }: { projectId: string }) {
  const { data = [] } = useQuery(replaysQuery(projectId));
  const newest = data.find(
    ({ draft, group_id: group, record_id: record }) => !draft && group === null && record === null,
  );
  return newest === undefined ? null : <ReplayLink replay={newest} lead="Saved screens: " />;
}

/** Sizes of the panes beside the code. */
function usePaneSizes() {
  const key = 'phalanx.editor.panes';
  const files = usePaneSize(key, 'files', 208, { min: 140, max: 480 });
  const run = usePaneSize(key, 'run', 360, { min: 260, max: 720 });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- React's type knows no properties of our own
  const style = { '--files': `${files.size}px`, '--run': `${run.size}px` } as CSSProperties;
  return { files, run, style };
}

interface CommitDialogProps {
  projectId: string;
  userId: string;
  /** Group of records that the commit may solve. */
  groupId: string | undefined;
  onClose: () => void;
}

function CommitDialog({ projectId, userId, groupId, onClose }: CommitDialogProps) {
  const queries = useQueryClient();
  const params = { id: projectId };
  const { data, error: readError } = useQuery({
    queryKey: ['diff', projectId],
    queryFn: ({ signal }) => call('GET /api/v2/automation/diff/:id', { params }, { signal }),
    staleTime: 0,
  });
  const { data: drafts = [] } = useQuery(draftsQuery(userId, projectId));
  const [message, setMessage] = useState('');
  const [isSolving, setSolving] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const commit = async (): Promise<void> => {
    try {
      const whole =
        isSolving && groupId !== undefined ? `${message.trimEnd()}\n\nSolves ${groupId}` : message;
      const reply = await call('POST /api/v2/automation/commit/:id', { params, body: { message: whole } });
      const solves = (reply.solves ?? []).length === 0 ? '' : ' It solves the groups named in its message.';
      notify(`Committed ${reply.commit.hash.slice(0, 8)}`, `${reply.commit.message}${solves}`);
      await queries.invalidateQueries({ queryKey: ['files', projectId] });
      await queries.invalidateQueries({ queryKey: ['commits', projectId] });
      onClose();
    } catch (failure) {
      setError(failure);
    }
  };
  return (
    <ActionDialog
      title="Commit"
      isWide
      onClose={onClose}
      action="Commit"
      reason={message.trim() === '' ? 'Enter a message.' : undefined}
      onAct={commit}
    >
      <Field
        label="Commit message"
        hint="A line “Solves GROUP” marks that group of records as solved by this commit. Ctrl+Enter commits."
      >
        {(attributes) => (
          <TextArea
            {...attributes}
            rows={3}
            value={message}
            onChange={({ target }) => setMessage(target.value)}
          />
        )}
      </Field>
      {groupId !== undefined && <SolvesGroup {...{ groupId, isSolving }} onChange={setSolving} />}
      {drafts.length > 0 && (
        <p role="note">
          Not in this commit, because {drafts.length === 1 ? 'it is' : 'they are'} not saved:{' '}
          {drafts.join(', ')}
        </p>
      )}
      {(error ?? readError) !== null && <InlineFailure error={error ?? readError} />}
      {data === undefined && readError === null && <Loading rows={5} />}
      {data !== undefined && <DiffList files={data.files} />}
    </ActionDialog>
  );
}

interface SolvesGroupProps {
  groupId: string;
  isSolving: boolean;
  onChange: (isSolving: boolean) => void;
}

/** Checkbox that adds the line that marks the group as solved. */
function SolvesGroup({ groupId, isSolving, onChange }: SolvesGroupProps) {
  const { data } = useQuery(groupQuery(groupId));
  const name = data === undefined ? '' : `“${groupName(data.group)}” `;
  return (
    <label className={styles['solves']}>
      <input type="checkbox" checked={isSolving} onChange={({ target }) => onChange(target.checked)} />
      Solves the group {name}with the line <code>Solves {groupId}</code>
    </label>
  );
}

interface ShareProjectProps {
  project: Project;
  onClose: () => void;
}

function ShareProject({ project: { id, name, role }, onClose }: ShareProjectProps) {
  const missing = useMissingScope('edit');
  return (
    <MembersDialog
      title={`Share ${name}`}
      queryKey={['project', id]}
      roles={[
        { value: 'shared_editor', label: 'can edit and launch' },
        { value: 'shared_viewer', label: 'can view' },
      ]}
      reason={missing ?? (role === 'owner' ? undefined : 'Only the owner shares a project.')}
      list={async (signal) => {
        const input = { params: { id }, query: { limit: 1000 } };
        return (await call('GET /api/v2/automation-project/:id/members', input, { signal })).members;
      }}
      put={(userId, wanted) =>
        call('PUT /api/v2/automation-project/:id/members/:user_id', {
          params: { id, user_id: userId },
          body: { role: wanted },
        })
      }
      remove={(userId) =>
        call('DELETE /api/v2/automation-project/:id/members/:user_id', { params: { id, user_id: userId } })
      }
      onClose={onClose}
    />
  );
}
