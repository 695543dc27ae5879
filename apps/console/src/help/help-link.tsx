import { Link } from '@tanstack/react-router';

import { ApiFailure } from '../api/api-failure.ts';

/** Leads to what the failure means and what to do. */
export const HelpLink = ({ error }: { error: unknown }) =>
  error instanceof ApiFailure ? (
    <Link to="/help/$" params={{ _splat: 'errors' }} hash={error.code}>
      What to do
    </Link>
  ) : null;
