import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useEffect, useState } from 'react';

import { call } from '../../../api/call.ts';
import { distinctName, useDevicesById } from '../../../fleet/devices/device.tsx';
import { OutcomeList, type OutcomeRow } from '../../../runs/launches/outcome-list.tsx';
import { LogView } from '../../../runs/logs/log-view.tsx';
import { useRunLog } from '../../../runs/logs/run-log.tsx';
import { Button } from '../../../parts/button.tsx';
import { SearchInput, useSettled } from '../../../parts/field.tsx';
import { Splitter, usePaneSize } from '../../../parts/splitter.tsx';
import { InlineFailure } from '../../../parts/states.tsx';
import { runQuery, isActive, RunStatusMark } from '../../../runs/runs/run.tsx';
import type { Finding } from './code-assist.ts';
import styles from '../project.module.css';

export type OutputTab = 'problems' | 'log' | 'search' | 'replay' | undefined;

/** Run whose log is on display. */
export interface ShownRun {
  readonly runId: string;
  readonly deviceId: string;
}

/** Line of a run's last log entry. */
export interface RunningLine {
  readonly path: string;
  readonly line: number;
}

interface OutputPanelProps {
  projectId: string;
  findings: readonly Finding[];
  /** Progress of the latest launch per phone; undefined before the first launch. */
  rows: readonly OutcomeRow[] | undefined;
  runs: readonly ShownRun[];
  tab: OutputTab;
  onTab: (tab: OutputTab) => void;
  onOpenLine: (path: string, line: number) => void;
  /** Called with undefined when nothing runs. */
  onRunningLine: (place: RunningLine | undefined) => void;
  /** Result of replaying saved screens with the unsaved text. */
  replay: ReactNode;
}

/** Panel below the editor with the problems of the code, the logs of the latest runs, and replay results. */
export function OutputPanel(props: OutputPanelProps) {
  const { findings, tab, onTab, onOpenLine } = props;
  const pane = usePaneSize('phalanx.editor.panes', 'output', 260, { min: 120, max: 700 });
  const choose = (wanted: OutputTab): void => onTab(tab === wanted ? undefined : wanted);
  return (
    <section
      className={styles['output']}
      data-part="output"
      aria-label="Output"
      style={tab === undefined ? {} : { height: pane.size }}
    >
      {tab !== undefined && <Splitter label="Height of the output" pane={pane} edge="top" />}
      <div className={styles['outputHead']} role="group" aria-label="What the output shows">
        <Button look="quiet" aria-pressed={tab === 'problems'} onClick={() => choose('problems')}>
          Problems <b>{findings.length}</b>
        </Button>
        <Button look="quiet" aria-pressed={tab === 'log'} onClick={() => choose('log')}>
          Log
        </Button>
        <Button
          look="quiet"
          title="Ctrl+Shift+F"
          aria-pressed={tab === 'search'}
          onClick={() => choose('search')}
        >
          Search
        </Button>
        <Button look="quiet" aria-pressed={tab === 'replay'} onClick={() => choose('replay')}>
          Replay
        </Button>
        <span className={styles['space']} />
        {tab !== undefined && (
          <Button look="quiet" onClick={() => onTab(undefined)}>
            Hide
          </Button>
        )}
      </div>
      {tab === 'problems' && <Problems {...{ findings, onOpenLine }} />}
      {tab === 'search' && <SearchFiles projectId={props.projectId} onOpenLine={onOpenLine} />}
      {tab === 'replay' && props.replay}
      <RunLogs {...props} isShown={tab === 'log'} />
    </section>
  );
}

function Problems({ findings, onOpenLine }: Pick<OutputPanelProps, 'findings' | 'onOpenLine'>) {
  if (findings.length === 0) return <p className={styles['hint']}>No problems in this file.</p>;
  return (
    <ul className={styles['problems']} aria-label="Problems">
      {findings.map((finding) => (
        <li key={`${finding.path} ${finding.line} ${finding.column} ${finding.message}`}>
          <button
            type="button"
            className={styles['problem']}
            data-severity={finding.severity}
            onClick={() => onOpenLine(finding.path, finding.line)}
          >
            <span aria-hidden="true">{finding.severity === 'error' ? '✕' : '▲'}</span>
            <code>
              {finding.path}:{finding.line}
            </code>
            <span>{finding.message}</span>
          </button>
        </li>
      ))}
    </ul>
  );
}

interface RunLogsProps extends Pick<OutputPanelProps, 'rows' | 'runs' | 'onOpenLine' | 'onRunningLine'> {
  /** Whether the log is visible; a hidden log is still followed for its newest line. */
  isShown: boolean;
}

/** Runs of the latest launch with the log of one of them. */
function RunLogs({ rows, runs, isShown, ...log }: RunLogsProps) {
  const [chosen, setChosen] = useState<string>();
  const devices = useDevicesById();
  const current = runs.find(({ runId }) => runId === chosen) ?? runs[0];
  if (current === undefined) {
    if (!isShown) return null;
    return rows === undefined ? (
      <p className={styles['hint']}>Run the project to see its log here.</p>
    ) : (
      <OutcomeList rows={rows} />
    );
  }
  const nameOf = (id: string): string => {
    const device = devices.get(id);
    return device === undefined ? id : distinctName(device, devices.values());
  };
  return (
    <>
      {isShown && runs.length > 1 && (
        <div className={styles['runsOf']} role="tablist" aria-label="Phones of the run">
          {runs.map(({ deviceId, runId }) => (
            <button
              key={runId}
              type="button"
              role="tab"
              aria-selected={runId === current.runId}
              className={styles['runTab']}
              onClick={() => setChosen(runId)}
            >
              {nameOf(deviceId)}
            </button>
          ))}
        </div>
      )}
      <RunLog key={current.runId} runId={current.runId} isShown={isShown} {...log} />
    </>
  );
}

type RunLogProps = Pick<RunLogsProps, 'isShown' | 'onOpenLine' | 'onRunningLine'> & { runId: string };

function RunLog({ runId, isShown, onOpenLine, onRunningLine }: RunLogProps) {
  const { data: run } = useQuery(runQuery(runId));
  const active = run === undefined || isActive(run);
  const log = useRunLog(runId);
  const last = active
    ? log.entries.findLast(({ path, lineNumber }) => path !== null && lineNumber > 0)
    : undefined;
  const [path, line] = [last?.path ?? undefined, last?.lineNumber ?? 0];
  useEffect(() => {
    onRunningLine(path === undefined ? undefined : { path, line });
    return () => onRunningLine(undefined);
  }, [path, line, onRunningLine]);
  if (!isShown) return null;
  return (
    <>
      <div className={styles['runsOf']}>
        {run !== undefined && <RunStatusMark run={run} />}
        <span className={styles['space']} />
        <Link to="/runs/$runId" params={{ runId }}>
          Open run
        </Link>
      </div>
      {run?.error !== null && run?.error !== undefined && (
        <InlineFailure error={new Error(run.error.message)} />
      )}
      <div className={styles['resultLog']}>
        <LogView log={log} isLive={active} onOpenLine={onOpenLine} />
      </div>
    </>
  );
}

interface SearchFilesProps {
  projectId: string;
  onOpenLine: (path: string, line: number) => void;
}

/** Search for a text in all saved files. */
function SearchFiles({ projectId, onOpenLine }: SearchFilesProps) {
  const [typed, setTyped] = useState('');
  const text = useSettled(typed);
  const { data, error } = useQuery({
    queryKey: ['files', projectId, 'search', text],
    enabled: text !== '',
    // Each search reads all files of the project.
    refetchInterval: false,
    queryFn: ({ signal }) =>
      call('GET /api/v2/automation/search/:id', { params: { id: projectId }, query: { text } }, { signal }),
  });
  const matches = text === '' ? [] : (data?.matches ?? []);
  return (
    <>
      <div className={styles['searchBar']}>
        <SearchInput label="Search in files" value={typed} onChange={setTyped} autoFocus />
        <span role="status">
          {data === undefined || text === ''
            ? 'Searches saved files.'
            : `${matches.length.toLocaleString('en')}${data.truncated ? ' of more' : ''} lines`}
        </span>
      </div>
      {error !== null && <InlineFailure error={error} />}
      <ul className={styles['results']} aria-label="Found lines">
        {matches.map(({ path, line, text: found }) => (
          <li key={`${path}:${line}`}>
            <button type="button" className={styles['result']} onClick={() => onOpenLine(path, line)}>
              <code>
                {path}:{line}
              </code>
              <span>{found.trim()}</span>
            </button>
          </li>
        ))}
      </ul>
    </>
  );
}
