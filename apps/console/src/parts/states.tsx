import { ServiceError, NotTheService, ServiceUnreachable } from '@phalanx/client/service-errors';
import type { ReactNode } from 'react';
import { Link } from '@tanstack/react-router';

import { Button } from './button.tsx';
import styles from './states.module.css';

interface EmptyProps {
  title: string;
  children?: ReactNode;
  action?: ReactNode;
}

/** Empty state: why there is nothing, and what to do. */
export const Empty = ({ title, children, action }: EmptyProps) => (
  <div className={styles['state']}>
    <h2>{title}</h2>
    {children !== undefined && <p>{children}</p>}
    {action !== undefined && <div className={styles['actions']}>{action}</div>}
  </div>
);

const barNames = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l'];

/** Placeholder of about the final size, shown only if loading takes a while. */
export const Loading = ({ rows = 8, label = 'Loading' }: { rows?: number; label?: string }) => (
  <div className={styles['skeleton']} role="status" aria-label={label}>
    {barNames.slice(0, rows).map((name, index) => (
      <div key={name} className={styles['bar']} style={{ width: `${92 - ((index * 17) % 40)}%` }} />
    ))}
  </div>
);

interface FailureProps {
  error: unknown;
  onRetry?: (() => void) | undefined;
}

export const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : 'Something went wrong.';

/** Error in place of the content that failed to load. */
export const Failure = ({ error, onRetry }: FailureProps) => (
  <div className={styles['state']} role="alert">
    <h2>This could not be loaded</h2>
    <p>
      {messageOf(error)} <HelpLink error={error} />
    </p>
    {error instanceof ServiceError && error.requestId !== undefined && (
      <p className={styles['detail']}>request {error.requestId}</p>
    )}
    {onRetry !== undefined && (
      <div className={styles['actions']}>
        <Button onClick={onRetry}>Try again</Button>
      </div>
    )}
  </div>
);

/** Error beside content that remains visible. */
export const InlineFailure = ({ error, onRetry }: FailureProps) => (
  <div className={styles['inline']} role="alert">
    <span>
      {messageOf(error)} <HelpLink error={error} />
    </span>
    {onRetry !== undefined && (
      <Button look="quiet" onClick={onRetry}>
        Try again
      </Button>
    )}
  </div>
);

/** Returns the anchor of the error on the page about errors. */
function entryOf(error: unknown): string | undefined {
  if (error instanceof ServiceError) return error.code;
  if (error instanceof ServiceUnreachable) return 'unreachable';
  return error instanceof NotTheService ? 'unreadable' : undefined;
}

/** Link to the meaning of the error and its remedy. */
export function HelpLink({ error }: { error: unknown }) {
  const entry = entryOf(error);
  if (entry === undefined) return null;
  return (
    <Link to="/help/$" params={{ _splat: 'errors' }} hash={entry} className={styles['inText']}>
      What to do
    </Link>
  );
}
