import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';

import { call, session } from '../../api/call.ts';
import { useStore } from '../../api/store.ts';
import { Button } from '../../parts/button.tsx';
import { Field, monoInputClass } from '../../parts/field.tsx';
import { messageOf } from '../../parts/states.tsx';
import styles from './sign-in.module.css';

type SignIn = (credentials: { token: string } | { link: string }) => Promise<void>;

function useSignIn(): { signIn: SignIn; isBusy: boolean; problem: string | undefined } {
  const queries = useQueryClient();
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  const signIn: SignIn = async (credentials) => {
    setBusy(true);
    setProblem(undefined);
    try {
      await call('POST /api/v2/session', { body: credentials });
      session.begin();
      await queries.invalidateQueries();
    } catch (error) {
      setProblem(withoutHeaders(messageOf(error)));
    }
    setBusy(false);
  };
  return { signIn, isBusy, problem };
}

/** Removes the service's advice about headers, which is meant for programs. */
const withoutHeaders = (message: string): string => message.replace(/ Send the header ".*$/, '');

/**
 * Returns why the session ended. After a week the browser itself drops its cookie, and the service only reports a
 * missing one.
 */
function useEndReason(): string {
  const reason = withoutHeaders(useStore(session.reason));
  return reason === 'The request has no token.' ? 'A sign-in lasts a week at most.' : reason;
}

/** Returns the secret of the sign-in link from the terminal. It stands behind the `#`, which browsers never send. */
function takeLink(): string | undefined {
  const link = /^#link=([\w-]+)$/.exec(window.location.hash)?.[1];
  if (link !== undefined) window.history.replaceState(null, '', '/sign-in');
  return link;
}

/** Read before the router starts, because the router's redirect would drop it. */
let givenLink = takeLink();

interface SignInFormProps {
  lead: string;
  /** Reason why a signed-in user has to sign in again. */
  reason: string | undefined;
}

function SignInForm({ lead, reason }: SignInFormProps) {
  const { signIn, isBusy, problem } = useSignIn();
  const [token, setToken] = useState('');
  useEffect(() => {
    const link = givenLink;
    givenLink = undefined;
    if (link !== undefined) void signIn({ link });
  });
  return (
    <div className={styles['card']}>
      <Logo />
      <div>
        <h1>Phalanx</h1>
        <p className={styles['lead']}>{lead}</p>
      </div>
      {reason !== undefined && (
        <p className={styles['warning']} role="status">
          {reason}
        </p>
      )}
      {!window.isSecureContext && (
        <p className={styles['warning']}>
          This page was loaded without TLS: anyone who can intercept traffic on this network can read the
          token. Put a proxy with TLS in front of the service.
        </p>
      )}
      <form
        className={styles['form']}
        onSubmit={(event) => {
          event.preventDefault();
          void signIn({ token: token.trim() });
        }}
      >
        <Field
          label="API token"
          hint="Printed where the service was started. Otherwise, ask your administrator."
          problem={problem}
        >
          {(attributes) => (
            <input
              {...attributes}
              className={monoInputClass}
              type="password"
              name="token"
              autoComplete="current-password"
              placeholder="phx_…"
              required
              // oxlint-disable-next-line jsx-a11y/no-autofocus -- the page has nothing else to do
              autoFocus
              value={token}
              onChange={(event) => setToken(event.target.value)}
            />
          )}
        </Field>
        <Button look="primary" type="submit" isBusy={isBusy}>
          Sign in
        </Button>
      </form>
    </div>
  );
}

export function SignInPage() {
  const reason = useEndReason();
  useEffect(() => {
    document.title = 'Sign in · Phalanx';
  }, []);
  return (
    <main className={styles['page']}>
      <SignInForm
        lead="Automations on a fleet of Android phones."
        reason={session.wasSignedIn() ? `You were signed out. ${reason}` : undefined}
      />
    </main>
  );
}

/** Sign-in over the current page, which keeps everything that was typed. */
export function SignInAgain() {
  const reason = useEndReason();
  return (
    <div className={styles['veil']} role="dialog" aria-modal="true" aria-label="Sign in again">
      <div className={styles['page']}>
        <SignInForm lead="Your input is kept." reason={`You were signed out. ${reason}`} />
      </div>
    </div>
  );
}

/** Logo: the three bones of a finger, with their joints. */
export const Logo = () => (
  <svg viewBox="0 0 32 32" width="26" height="26" aria-hidden="true">
    <rect width="32" height="32" rx="7" fill="var(--ink)" />
    <g fill="var(--on-ink)">
      <rect x="7" y="6" width="5" height="20" rx="2.5" />
      <rect x="14" y="6" width="5" height="13" rx="2.5" />
      <rect x="21" y="6" width="5" height="13" rx="2.5" />
      <circle cx="23.5" cy="23.5" r="2.5" />
    </g>
    <circle cx="16.5" cy="23.5" r="2.5" fill="light-dark(#8daeff, #2450c8)" />
  </svg>
);
