import type { Project } from '@phalanx/protocol';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';

import { ApiFailure } from '../api/api-failure.ts';
import { useMe, useMissingScope } from '../api/me.ts';
import { Button } from '../parts/button.tsx';
import { Page } from '../parts/page.tsx';
import { Empty, Failure, Loading } from '../parts/states.tsx';
import type { Jump } from './code-editor.tsx';
import { CommitDialog } from './commit-dialog.tsx';
import { FileList } from './file-list.tsx';
import { FilePane } from './file-pane.tsx';
import { HistoryDialog } from './history-dialog.tsx';
import styles from './project.module.css';
import { filesQuery, projectQuery } from './queries.ts';
import { RunPane } from './run-pane.tsx';
import { ShareProject } from './share-project.tsx';
import { useOpenFile } from './use-open-file.ts';

const route = getRouteApi('/projects/$projectId');

export function ProjectPage() {
  const { projectId } = route.useParams();
  const { data, error, refetch } = useQuery(projectQuery(projectId));
  const me = useMe();
  if (data !== undefined && me !== undefined)
    return <Shown key={projectId} project={data} userId={me.user.id} />;
  const isGone = error instanceof ApiFailure && error.status === 404;
  return (
    <Page title="Project">
      {isGone ? (
        <Empty title="There is no such project" action={<Link to="/projects">All projects</Link>}>
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

type Popup = 'commit' | 'history' | 'members' | undefined;
const parts = { files: 'Files', code: 'Code', run: 'Run' } as const;

function Shown({ project, userId }: { project: Project; userId: string }) {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const missing = useMissingScope('edit');
  const notYours =
    project.role === 'shared_viewer' ? 'The project is shared with you for looking only.' : undefined;
  const reason = missing ?? notYours;
  const { data: list } = useQuery(filesQuery(project.id));
  const [popup, setPopup] = useState<Popup>();
  const [part, setPart] = useState<keyof typeof parts>('code');
  const path =
    search.file ?? list?.files.find((file) => file.change !== 'deleted' && file.path === 'main.ts')?.path;
  const [jump, setJump] = useState<Jump>({ line: search.line });
  const open = (file: string, line?: number): void => {
    setPart('code');
    setJump({ line });
    void navigate({ search: line === undefined ? { file } : { file, line } });
  };
  return (
    <Page
      title={project.name}
      aside={
        list !== undefined && <span>{list.dirty ? 'changed since the last commit' : 'all committed'}</span>
      }
      actions={
        <>
          <Button
            reason={reason ?? (list?.dirty === false ? 'There is nothing to commit.' : undefined)}
            onClick={() => setPopup('commit')}
          >
            Commit…
          </Button>
          <Button look="quiet" onClick={() => setPopup('history')}>
            History
          </Button>
          <Button look="quiet" onClick={() => setPopup('members')}>
            Share
          </Button>
        </>
      }
    >
      <div className={styles['layout']} data-shown={part}>
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
        <FileList projectId={project.id} userId={userId} current={path} reason={reason} onOpen={open} />
        <Workspace {...{ project, userId, path, reason, jump }} onOpen={open} />
      </div>
      {popup === 'commit' && <CommitDialog projectId={project.id} onClose={() => setPopup(undefined)} />}
      {popup === 'history' && (
        <HistoryDialog projectId={project.id} reason={reason} onClose={() => setPopup(undefined)} />
      )}
      {popup === 'members' && <ShareProject project={project} onClose={() => setPopup(undefined)} />}
    </Page>
  );
}

interface WorkspaceProps {
  project: Project;
  userId: string;
  path: string | undefined;
  reason: string | undefined;
  jump: Jump;
  onOpen: (file: string, line?: number) => void;
}

/** The open file, and what runs beside it. */
function Workspace({ project, userId, path, reason, jump, onOpen }: WorkspaceProps) {
  const [runs, setRuns] = useState(0);
  const open = useOpenFile({ userId, projectId: project.id, path: path ?? '' }, reason === undefined);
  return (
    <>
      <section className={styles['code']} data-part="code" aria-label="Code">
        {path === undefined ? (
          <Empty title="No file is open">Choose one on the left, or make a new one.</Empty>
        ) : (
          <FilePane open={open} reason={reason} jump={jump} onRun={() => setRuns(runs + 1)} onOpen={onOpen} />
        )}
      </section>
      <RunPane
        project={project}
        wanted={runs}
        onBeforeRun={() => (path === undefined ? Promise.resolve(true) : open.save())}
        onOpenLine={onOpen}
      />
    </>
  );
}
