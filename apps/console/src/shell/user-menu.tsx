import { Link } from '@tanstack/react-router';
import { useRef } from 'react';

import { useMe } from '../api/me.ts';
import { useStore } from '../api/store.ts';
import { Icon } from '../parts/icon.tsx';
import styles from './user-menu.module.css';
import { setTheme, theme, themeNames, themes } from '../styles/theme.ts';
import { useSignOut } from '../http/access/use-sign-out.ts';

/** Menu of the signed-in user: theme, settings, help, sign-out. */
export function UserMenu({ itemClass, onKeys }: { itemClass: string | undefined; onKeys: () => void }) {
  const me = useMe();
  const chosen = useStore(theme);
  const signOut = useSignOut();
  const menu = useRef<HTMLDivElement>(null);
  const close = (): void => menu.current?.hidePopover();
  const name = me?.user.name ?? '';
  return (
    <>
      <button type="button" className={itemClass} popoverTarget="user-menu" title={name}>
        <span className={styles['initial']} aria-hidden="true">
          {name.slice(0, 1).toUpperCase()}
        </span>
        <span className={styles['name']}>
          <span className="visually-hidden">You: </span>
          {name}
        </span>
      </button>
      <div ref={menu} id="user-menu" popover="auto" className={styles['menu']} role="dialog" aria-label="You">
        <p>
          <b>{name}</b>
          {me?.user.role === 'admin' && ' · administrator'}
        </p>
        <div className={styles['themes']} role="radiogroup" aria-label="Theme">
          <span aria-hidden="true">Theme</span>
          {themes.map((one) => (
            <label key={one}>
              <input type="radio" name="menu-theme" checked={chosen === one} onChange={() => setTheme(one)} />
              {themeNames[one]}
            </label>
          ))}
        </div>
        <Link to="/settings" className={styles['entry']} onClick={close}>
          <Icon name="settings" /> Settings
        </Link>
        <Link to="/start" className={styles['entry']} onClick={close}>
          <Icon name="check" /> First steps
        </Link>
        <Link to="/help" className={styles['entry']} onClick={close}>
          <Icon name="file" /> Help
        </Link>
        <button
          type="button"
          className={styles['entry']}
          onClick={() => {
            close();
            onKeys();
          }}
        >
          <Icon name="help" /> Keyboard shortcuts
        </button>
        <button type="button" className={styles['entry']} onClick={() => void signOut()}>
          <Icon name="out" /> Sign out
        </button>
      </div>
    </>
  );
}
