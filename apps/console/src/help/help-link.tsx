import { Link } from '@tanstack/react-router';

import { ApiFailure } from '../api/api-failure.ts';
import styles from './help.module.css';

/** Leads to what the failure means and what to do. */
export const HelpLink = ({ error }: { error: unknown }) =>
  error instanceof ApiFailure ? (
    <Link to="/help/$" params={{ _splat: 'errors' }} hash={error.code} className={styles['inText']}>
      What to do
    </Link>
  ) : null;
