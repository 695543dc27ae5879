import { NotTheService, ServiceError, ServiceUnreachable } from '@phalanx/client/transport';
import { Link } from '@tanstack/react-router';

import styles from './help.module.css';

/** Its entry on the page about errors. */
function entryOf(error: unknown): string | undefined {
  if (error instanceof ServiceError) return error.code;
  if (error instanceof ServiceUnreachable) return 'unreachable';
  return error instanceof NotTheService ? 'unreadable' : undefined;
}

/** Leads to what the failure means and what to do. */
export function HelpLink({ error }: { error: unknown }) {
  const entry = entryOf(error);
  if (entry === undefined) return null;
  return (
    <Link to="/help/$" params={{ _splat: 'errors' }} hash={entry} className={styles['inText']}>
      What to do
    </Link>
  );
}
