import type { FileDiff } from '@phalanx/protocol';

import { classNames } from '../../parts/class-names.ts';
import styles from './project.module.css';

/** Changes, grouped by file. */
export const DiffList = ({ files }: { files: readonly FileDiff[] }) =>
  files.map(({ path, change, diff }) => (
    <div key={path} className={styles['diff']}>
      <h3>
        {path} · {change}
      </h3>
      {diff === null ? (
        <p className={styles['hunk']}>This file is binary, or too large to show.</p>
      ) : (
        <DiffText path={path} text={diff} />
      )}
    </div>
  ));

const lookOf = (line: string): string | undefined => {
  if (line.startsWith('@@')) return styles['hunk'];
  if (line.startsWith('+')) return styles['added'];
  return line.startsWith('-') ? styles['removed'] : undefined;
};

/** Lines of a diff without the header that names the file. */
function DiffText({ path, text }: { path: string; text: string }) {
  const lines = text.replace(/\n$/, '').split('\n');
  const start = Math.max(
    0,
    lines.findIndex((line) => line.startsWith('@@')),
  );
  const shown = lines.slice(start).map((line, index) => ({ line, at: start + index }));
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls
    <pre tabIndex={0} role="region" aria-label={`Changes of ${path}`}>
      {shown.map(({ line, at }) => (
        <span key={at} className={classNames(lookOf(line))}>
          {line === '' ? ' ' : line}
        </span>
      ))}
    </pre>
  );
}
