import { ServiceError } from '@phalanx/client/transport';
import { useMemo, useState } from 'react';

import { fieldsOf, problemsOf, refusalsOf } from './parameter-fields.ts';
import type { Launch } from './use-launch.ts';

type Problems = ReadonlyMap<string, string>;

interface ParameterProblems {
  /** By field; undefined until a launch was tried. */
  readonly shown: Problems | undefined;
  /** Shows from now on what is wrong. False: nothing can be sent. */
  readonly check: () => boolean;
  /** The values have changed: what the service said of the old ones no longer holds. */
  readonly forget: () => void;
}

const none: Problems = new Map();

/** What is wrong with the parameters of a launch: as the form sees it, or as the service has refused them. */
export function useParameterProblems(
  schema: string | null | undefined,
  values: Record<string, unknown> | undefined,
  launch: Launch,
): ParameterProblems {
  const [hasTried, setTried] = useState(false);
  const fields = useMemo(() => fieldsOf(schema ?? '') ?? [], [schema]);
  const problems = useMemo(() => problemsOf(fields, values ?? {}), [fields, values]);
  const refused = useMemo(
    () =>
      launch.error instanceof ServiceError && launch.error.code === 'invalid_parameters'
        ? refusalsOf(fields, launch.error.message)
        : none,
    [fields, launch.error],
  );
  const shown = problems.size > 0 ? problems : refused;
  return {
    shown: hasTried ? shown : undefined,
    check: () => {
      setTried(true);
      return problems.size === 0;
    },
    forget: () => {
      if (refused.size > 0) launch.reset();
    },
  };
}
