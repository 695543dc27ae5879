import type { Project } from '@phalanx/protocol';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useEffect, useMemo, useRef, useState } from 'react';

import type { OutcomeRow } from '../../runs/launches/outcome-list.tsx';
import { useLaunch } from '../../runs/launches/use-launch.ts';
import { usePageKeys } from '../../parts/keys.tsx';
import { findMatches, Picker } from '../../parts/picker.tsx';
import { Empty } from '../../parts/states.tsx';
import { DraftReplay, useDraftReplay } from '../../evidence/replays/draft-replay.tsx';
import type { Jump, CodeSink, EditorHandle } from './editor/code-editor.tsx';
import type { Finding } from './editor/code-assist.ts';
import { draftsOf } from './editor/drafts.ts';
import { FilePane } from './editor/file-pane.tsx';
import { OpenFiles, useOpenFiles } from './editor/open-files.tsx';
import { OutputPanel, type OutputTab, type RunningLine, type ShownRun } from './editor/output-panel.tsx';
import styles from './project.module.css';
import { filesQuery } from './project.tsx';
import { type NamedPlace, RenameSymbol, useNavigation } from './editor/code-navigation.tsx';
import { RunPane, type WantedRun } from './run-pane.tsx';
import { useOpenFile } from './editor/use-open-file.ts';

interface WorkspaceProps {
  project: Project;
  userId: string;
  path: string | undefined;
  reason: string | undefined;
  jump: Jump;
  /** Group named in the address. Its screens are replayed first. */
  groupId: string | undefined;
  onOpen: (file: string, line?: number, offset?: number) => void;
  /** Content on the edge of the run pane, such as its splitter. */
  children: ReactNode;
}

/** The open file, the run pane beside it, and the output below both. */
export function Workspace(props: WorkspaceProps) {
  const { project, userId, path, reason, jump, groupId, onOpen, children } = props;
  const [wanted, setWanted] = useState<WantedRun>();
  const [running, setRunning] = useState<RunningLine>();
  const editor = useRef<EditorHandle>(null);
  const [isDirect, setDirect] = useState(false);
  const [isQuickOpen, setQuickOpen] = useState(false);
  const [renaming, setRenaming] = useState<NamedPlace>();
  const openFiles = useOpenFiles(project.id, path);
  const open = useOpenFile({ userId, projectId: project.id, path: path ?? '' }, reason === undefined);
  const launch = useLaunch();
  const runs = useShownRuns(project.id, launch.rows);
  const findings = open.file?.findings ?? noFindings;
  const want = (code: string | undefined): void => {
    setDirect(code !== undefined);
    setWanted({ code });
  };
  /** Returns the selection, or the whole file, padded so that its lines keep their numbers. */
  const codeAlone = (): string => {
    const selected = editor.current?.selection();
    return selected === undefined ? open.text() : '\n'.repeat(selected.line - 1) + selected.text;
  };
  const isCode = path !== undefined && /\.[mc]?[jt]sx?$/.test(path);
  const navigation = useNavigation({ project, path, open, onOpen, onRename: setRenaming });
  const sink: CodeSink = {
    insert: (code) => editor.current?.insert(code),
    reason: reason ?? (isCode ? undefined : 'Open a file with code first.'),
  };
  const [tab, setTab] = useOutputTab(
    findings.length > 0,
    launch.rows !== undefined && launch.error === null,
    groupId === undefined ? undefined : 'replay',
  );
  const replay = useDraftReplay(project.id, groupId);
  const replayDraft = async (): Promise<void> => {
    setTab('replay');
    const drafts = new Map(await draftsOf(userId, project.id).listTexts());
    if (path !== undefined && open.file !== undefined && open.file.condition !== 'saved')
      drafts.set(path, open.text());
    await replay.start(drafts);
  };
  usePageKeys({ p: () => setQuickOpen(true), F: () => setTab('search') });
  return (
    <>
      <section className={styles['code']} data-part="code" aria-label="Code">
        <OpenFiles files={openFiles} current={path} onOpen={onOpen} />
        {path === undefined ? (
          <Empty title="No file is open">Choose one on the left, or create a new one.</Empty>
        ) : (
          <FilePane
            {...{ open, reason, jump }}
            runningLine={running?.path === (isDirect ? 'main.ts' : path) ? running?.line : undefined}
            handle={editor}
            navigation={navigation}
            onRun={() => want(undefined)}
            onRunSelection={() => want(codeAlone())}
            onReplay={() => void replayDraft()}
          />
        )}
      </section>
      <RunPane
        project={project}
        wanted={wanted}
        sink={sink}
        onBeforeRun={() => (path === undefined ? Promise.resolve(true) : open.save())}
        launch={launch}
      >
        {children}
      </RunPane>
      <OutputPanel
        {...{ findings, runs, tab }}
        projectId={project.id}
        rows={launch.rows}
        onTab={setTab}
        onOpenLine={onOpen}
        onRunningLine={setRunning}
        replay={<DraftReplay project={project} draft={replay} onReplay={() => void replayDraft()} />}
      />
      {isQuickOpen && (
        <QuickOpen projectId={project.id} onOpen={onOpen} onClose={() => setQuickOpen(false)} />
      )}
      {renaming !== undefined && (
        <RenameSymbol projectId={project.id} place={renaming} onClose={() => setRenaming(undefined)} />
      )}
    </>
  );
}

const noFindings: readonly Finding[] = [];

/** Selects the tab of the output: Problems when the first one appears, Log when a launch begins. */
function useOutputTab(hasProblems: boolean, hasLaunched: boolean, first: OutputTab) {
  const [tab, setTab] = useState(first);
  const [known, setKnown] = useState({ hasProblems: false, hasLaunched: false });
  if (known.hasProblems !== hasProblems || known.hasLaunched !== hasLaunched) {
    setKnown({ hasProblems, hasLaunched });
    if (hasLaunched && !known.hasLaunched) setTab('log');
    // A replay shows the problems itself.
    else if (hasProblems && !known.hasProblems && tab !== 'replay') setTab('problems');
    else if (!hasProblems && tab === 'problems') setTab(hasLaunched ? 'log' : undefined);
  }
  return [tab, setTab] as const;
}

/** Returns the runs of the latest launch in this window. The list survives a reload. */
function useShownRuns(projectId: string, rows: readonly OutcomeRow[] | undefined): readonly ShownRun[] {
  const key = `phalanx.runs.${projectId}`;
  const [kept] = useState(() => readShownRuns(sessionStorage.getItem(key)));
  const launched = useMemo(
    () =>
      rows?.flatMap(({ runId, device }) => (runId === null ? [] : [{ runId, deviceId: device.device_id }])),
    [rows],
  );
  useEffect(() => {
    if (launched !== undefined && launched.length > 0)
      sessionStorage.setItem(key, launched.map(({ runId, deviceId }) => `${runId} ${deviceId}`).join('\n'));
  }, [key, launched]);
  return launched ?? kept;
}

const readShownRuns = (text: string | null): ShownRun[] =>
  (text ?? '').split('\n').flatMap((line) => {
    const [runId, deviceId] = line.split(' ');
    return runId === undefined || deviceId === undefined ? [] : [{ runId, deviceId }];
  });

const maxFound = 50;

interface QuickOpenProps {
  projectId: string;
  onOpen: (path: string) => void;
  onClose: () => void;
}

/** Quick open (Ctrl+P): opens a file by letters of its path. */
function QuickOpen({ projectId, onOpen, onClose }: QuickOpenProps) {
  const { data } = useQuery(filesQuery(projectId));
  const paths = useMemo(
    () => data?.files.filter(({ change }) => change !== 'deleted').map(({ path }) => path) ?? [],
    [data],
  );
  return (
    <Picker
      name="Open a file"
      label="Open a file"
      find={(text) =>
        findMatches(paths, text, maxFound).map((path) => ({
          id: path,
          label: path,
          note: '',
          icon: 'file',
          run: () => onOpen(path),
        }))
      }
      onClose={onClose}
    />
  );
}
