import type { ReactNode } from 'react';

import styles from './settings.module.css';

interface SettingsTableProps {
  label: string;
  columns: readonly string[];
  /** Whether the last cell of each row has buttons. */
  hasActions?: boolean;
  /** The rows. */
  children: ReactNode;
}

export const SettingsTable = ({ label, columns, hasActions = false, children }: SettingsTableProps) => (
  // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls
  <div className={styles['tableFrame']} tabIndex={0} role="region" aria-label={`Table: ${label}`}>
    <table className={styles['table']}>
      <thead>
        <tr>
          {columns.map((column) => (
            <th key={column} scope="col">
              {column}
            </th>
          ))}
          {hasActions && (
            <th scope="col">
              <span className="visually-hidden">What to do</span>
            </th>
          )}
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  </div>
);
