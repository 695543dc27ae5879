import { useQuery } from '@tanstack/react-query';
import { Navigate, useRouter } from '@tanstack/react-router';

import { Loading } from '../parts/states.tsx';
import { hasRunQuery } from '../runs/queries.ts';

/** Where a sign-in leads: to the first steps, until something has run. */
export function HomePage() {
  const { data: hasRun, isError } = useQuery(hasRunQuery);
  const { latestLocation } = useRouter();
  // This page is still shown while another one that was chosen is loading.
  const isLeaving = latestLocation.pathname !== '/';
  if (isLeaving || (hasRun === undefined && !isError)) return <Loading />;
  return <Navigate to={hasRun === false ? '/start' : '/devices'} replace />;
}
