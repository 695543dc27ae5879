import type { Run, RunFile } from '@phalanx/protocol';
import { useQuery } from '@tanstack/react-query';

import { isActive } from './run-status.tsx';
import { runFilesQuery } from './queries.ts';
import styles from './run-page.module.css';

/** Formats whose decoders a browser confines. */
const pictureTypes: ReadonlySet<string> = new Set(['image/png', 'image/jpeg']);
const maxPreviewBytes = 5_000_000;

/** What the run has attached. A browser saves each of them, and shows pictures alone, as pictures. */
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

const sizes = new Intl.NumberFormat('en', { maximumFractionDigits: 1 });

function sizeText(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  return bytes < 1_000_000 ? `${sizes.format(bytes / 1000)} kB` : `${sizes.format(bytes / 1_000_000)} MB`;
}
