import { useEffect, useState } from 'react';

/** A search begins when nobody has typed for so long. */
const typedMs = 250;

/** What was typed, once the typing has paused. */
export function useSettled(typed: string): string {
  const [settled, setSettled] = useState(typed);
  useEffect(() => {
    const timer = window.setTimeout(() => setSettled(typed), typedMs);
    return () => window.clearTimeout(timer);
  }, [typed]);
  return settled;
}
