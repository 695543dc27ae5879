import { useQuery } from '@tanstack/react-query';
import { Navigate } from '@tanstack/react-router';

import { Loading } from '../parts/states.tsx';
import { hasRunQuery } from '../runs/queries.ts';

/** Where a sign-in leads: to the first steps, until something has run. */
export function HomePage() {
  const { data: hasRun, isError } = useQuery(hasRunQuery);
  if (hasRun === undefined && !isError) return <Loading />;
  return <Navigate to={hasRun === false ? '/start' : '/devices'} replace />;
}
