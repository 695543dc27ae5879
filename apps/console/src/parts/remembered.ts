import { useState } from 'react';

/** Whether a part of the page is open, as this browser remembers. */
export function useRemembered(key: string) {
  const [isOpen, setOpen] = useState(() => localStorage.getItem(key) !== 'closed');
  const set = (wanted: boolean): void => {
    localStorage.setItem(key, wanted ? 'open' : 'closed');
    setOpen(wanted);
  };
  return { isOpen, toggle: () => set(!isOpen), open: () => set(true) };
}
