import { useMe } from '../../api/me.ts';
import { useStore } from '../../api/store.ts';
import { Button } from '../../parts/button.tsx';
import { Copyable } from '../../parts/copy.tsx';
import { setSingleKeys, singleKeys } from '../../parts/keys.tsx';
import { setTheme, theme, themeNames, themes } from '../../styles/theme.ts';
import { useSignOut } from './use-sign-out.ts';
import styles from './settings.module.css';
import { SettingsPage } from './settings-page.tsx';

export const AccountPage = () => (
  <SettingsPage part="Account">
    <You />
    <Browser />
  </SettingsPage>
);

function You() {
  const me = useMe();
  const signOut = useSignOut();
  if (me === undefined) return null;
  const { user, token } = me;
  return (
    <section className={styles['section']}>
      <h2>You</h2>
      <dl className={styles['facts']}>
        <dt>Name</dt>
        <dd>
          {user.name}
          {user.role === 'admin' && ', administrator'}
        </dd>
        <dt>User ID</dt>
        <dd>
          <Copyable text={user.id} label="Copy your user ID" />
        </dd>
        <dt>Signed in with</dt>
        <dd>the token “{token.name}”</dd>
        <dt>It allows</dt>
        <dd>{token.scopes.join(', ')}</dd>
      </dl>
      <Button onClick={() => void signOut()}>Sign out</Button>
    </section>
  );
}

function Browser() {
  const chosen = useStore(theme);
  const hasKeys = useStore(singleKeys);
  return (
    <section className={styles['section']}>
      <h2>This browser</h2>
      <div className={styles['choices']} role="radiogroup" aria-label="Theme">
        {themes.map((one) => (
          <label key={one}>
            <input type="radio" name="theme" checked={chosen === one} onChange={() => setTheme(one)} />
            {themeNames[one]}
          </label>
        ))}
        <label>
          <input type="checkbox" checked={hasKeys} onChange={({ target }) => setSingleKeys(target.checked)} />
          Use single-key shortcuts
        </label>
      </div>
    </section>
  );
}
