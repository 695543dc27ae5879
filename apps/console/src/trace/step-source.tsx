import type { RunStep } from '@phalanx/protocol';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';

import { readStoredFile } from '../projects/queries.ts';
import { placeOf } from './step-words.ts';
import styles from './trace.module.css';

/** Lines that are drawn around the line of the step. */
const around = 60;

interface StepSourceProps {
  step: RunStep | undefined;
  /** Undefined for code that is no project's: it is not kept. */
  projectId: string | undefined;
}

/** The line of the step, among the lines around it. */
export function StepSource({ step, projectId }: StepSourceProps) {
  const path = step?.path ?? undefined;
  const { data, error } = useQuery({
    queryKey: ['step-source', projectId, path],
    enabled: projectId !== undefined && path !== undefined,
    queryFn: ({ signal }) => readStoredFile(projectId ?? '', path ?? '', signal),
  });
  const place = step === undefined ? undefined : placeOf(step);
  const line = step?.line_number ?? 0;
  return (
    <section className={styles['source']} aria-label="Source">
      <div className={styles['paneHead']}>
        <h2>Source</h2>
        {projectId !== undefined && path !== undefined ? (
          <Link to="/projects/$projectId" params={{ projectId }} search={{ file: path, line }}>
            {place}
          </Link>
        ) : (
          <span>{place}</span>
        )}
      </div>
      {data === undefined ? (
        <p className={styles['note']}>{noteFor({ projectId, path, error })}</p>
      ) : (
        <Lines content={data.content} line={line} />
      )}
    </section>
  );
}

function noteFor({
  projectId,
  path,
  error,
}: Pick<StepSourceProps, 'projectId'> & { path: string | undefined; error: Error | null }): string {
  if (projectId === undefined) return 'Direct code is not stored with its run.';
  if (path === undefined) return 'Choose a step to see its line.';
  return error === null ? 'Reading…' : error.message;
}

function Lines({ content, line }: { content: string; line: number }) {
  const scroll = useRef<HTMLDivElement>(null);
  const current = useRef<HTMLDivElement>(null);
  // Within its frame alone: the page stays where it is.
  useEffect(() => {
    const [frame, place] = [scroll.current, current.current];
    if (frame !== null && place !== null) frame.scrollTop = place.offsetTop - frame.clientHeight / 2;
  }, [content, line]);
  const first = Math.max(0, line - 1 - around);
  const lines = content.split('\n').slice(first, line + around);
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls
    <div ref={scroll} className={styles['code']} tabIndex={0} role="region" aria-label="Lines of the file">
      {lines.map((text, index) => {
        const number = first + index + 1;
        return (
          <div
            key={number}
            ref={number === line ? current : null}
            className={styles['codeLine']}
            aria-current={number === line ? 'step' : undefined}
          >
            <span>{number}</span>
            <code>{text}</code>
          </div>
        );
      })}
    </div>
  );
}
