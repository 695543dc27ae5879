import type { RunDetail, Run, RunFile } from '@phalanx/protocol';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';

import { distinctName, useDevicesById } from '../../fleet/devices/device.tsx';
import { Copyable } from '../../parts/copy.tsx';
import { Elapsed, Moment } from '../../parts/time.tsx';
import { launcherWords } from './launch-rows.ts';
import { launchQuery, runFilesQuery, RunStatusMark, isActive } from './run.tsx';
import styles from './run-page.module.css';

/** Image formats whose decoders browsers sandbox. */
const pictureTypes: ReadonlySet<string> = new Set(['image/png', 'image/jpeg']);
const maxPreviewBytes = 5_000_000;

const sizes = new Intl.NumberFormat('en', { maximumFractionDigits: 1 });

/** Phone, times, launcher and code of a run. */
export function Details({ run }: { run: RunDetail }) {
  const devices = useDevicesById();
  const device = devices.get(run.device_id);
  return (
    <section>
      <h2>Run</h2>
      <dl className={styles['list']}>
        <dt>Phone</dt>
        <dd>
          <Link to="/devices/$deviceId" params={{ deviceId: run.device_id }}>
            {device === undefined ? run.device_id : distinctName(device, devices.values())}
          </Link>
        </dd>
        <dt>Started</dt>
        <dd>
          <Moment at={run.started_at ?? run.created_at} />
        </dd>
        <dt>Took</dt>
        <dd>{run.started_at === null ? '–' : <Elapsed from={run.started_at} to={run.ended_at} />}</dd>
        <dt>By</dt>
        <dd>
          <LaunchedBy run={run} />
        </dd>
        {run.launch_id === null && (
          <>
            <dt>Version</dt>
            <dd>
              {run.commit !== null && (
                <>
                  commit <code>{run.commit.slice(0, 8)}</code>
                </>
              )}
              {run.commit !== null && run.dirty === true && ' with '}
              {(run.commit === null || run.dirty === true) && 'uncommitted changes'}
            </dd>
          </>
        )}
        <dt>ID</dt>
        <dd>
          <Copyable text={run.run_id} label="Copy the ID" />
        </dd>
      </dl>
    </section>
  );
}

function LaunchedBy({ run: { launched_by: by } }: { run: RunDetail }) {
  const words = launcherWords(by);
  if (by.job === null) return words;
  return (
    <Link to="/jobs/$jobId" params={{ jobId: by.job.job_id }} search={{ task: by.job.task_number }}>
      {words}, task {by.job.task_number}
    </Link>
  );
}

/** Other runs of the same launch. */
export function Siblings({ run }: { run: RunDetail }) {
  const devices = useDevicesById();
  const { data } = useQuery(launchQuery(run.launch));
  const others = data?.runs.filter(({ run_id }) => run_id !== run.run_id) ?? [];
  if (others.length === 0) return null;
  return (
    <section>
      <h2>Same launch</h2>
      <ul className={styles['siblings']}>
        {others.map((other) => {
          const device = devices.get(other.device_id);
          return (
            <li key={other.run_id}>
              <RunStatusMark run={other} />{' '}
              <Link to="/runs/$runId" params={{ runId: other.run_id }}>
                {device === undefined ? other.device_id : distinctName(device, devices.values())}
              </Link>
            </li>
          );
        })}
      </ul>
    </section>
  );
}

/** Files attached by the run. The browser downloads each of them and displays only pictures. */
export function RunFiles({ run }: { run: Pick<Run, 'run_id' | 'status'> }) {
  const { data: files = [] } = useQuery(runFilesQuery(run.run_id, isActive(run)));
  if (files.length === 0) return null;
  return (
    <section>
      <h2>Files</h2>
      <ul className={styles['files']} aria-label="Files of the run">
        {files.map((file) => (
          <li key={file.name}>
            <FileRow
              file={file}
              address={`/api/v2/runs/${run.run_id}/files/${encodeURIComponent(file.name)}`}
            />
          </li>
        ))}
      </ul>
    </section>
  );
}

function FileRow({ file, address }: { file: RunFile; address: string }) {
  const isShown = pictureTypes.has(file.content_type) && file.size_bytes <= maxPreviewBytes;
  return (
    <>
      <a href={address} download={file.name}>
        {file.name}
      </a>{' '}
      <span>{sizeText(file.size_bytes)}</span>
      {isShown && <img src={address} alt={file.name} loading="lazy" />}
    </>
  );
}

function sizeText(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  return bytes < 1_000_000 ? `${sizes.format(bytes / 1000)} kB` : `${sizes.format(bytes / 1_000_000)} MB`;
}
