import type { TokenBudget } from '@phalanx/protocol';

/** Such as `3 of 50 runs, 12 of 120 min`. */
export function budgetText({ runs_per_day, minutes_per_day, runs_used, minutes_used }: TokenBudget): string {
  const parts = [
    ...(runs_per_day === null ? [] : [`${runs_used} of ${runs_per_day} runs`]),
    ...(minutes_per_day === null ? [] : [`${minutes_used} of ${minutes_per_day} min`]),
  ];
  return parts.join(', ');
}
