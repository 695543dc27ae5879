import { useLocation } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';

import { Icon } from '../../parts/icon.tsx';
import styles from './fold.module.css';

interface FoldProps {
  label: string;
  className: string | undefined;
  children: ReactNode;
}

/** List of links that collapses on narrow pages. Following a link collapses it again. */
export function Fold({ label, className, children }: FoldProps) {
  const { href } = useLocation();
  const [openedAt, setOpenedAt] = useState<string>();
  const isOpen = openedAt === href;
  return (
    <div className={className}>
      <button
        type="button"
        className={styles['button']}
        aria-expanded={isOpen}
        onClick={() => setOpenedAt(isOpen ? undefined : href)}
      >
        {label} <Icon name="down" />
      </button>
      <nav className={styles['content']} data-open={isOpen} aria-label={label}>
        {children}
      </nav>
    </div>
  );
}
