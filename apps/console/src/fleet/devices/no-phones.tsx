import { Link } from '@tanstack/react-router';

import { useMe } from '../../api/me.ts';
import { buttonClass } from '../../parts/button.tsx';
import { useReasonsForNoPhones } from '../hosts/hosts.ts';
import { Empty } from '../../parts/states.tsx';

/** Explains to a user without phones how to get access to one. */
export function AskForPhone() {
  const me = useMe();
  return (
    <>
      You see the phones that you own and those that are shared with you. Ask the owner of a phone, or your
      administrator, to open the phone, choose Share and enter your name: <b>{me?.user.name}</b>.
    </>
  );
}

export function NoPhones() {
  const reasons = useReasonsForNoPhones();
  const isAdministrator = useMe()?.user.role === 'admin';
  if (!isAdministrator)
    return (
      <Empty title="No phones are shared with you">
        <AskForPhone />
      </Empty>
    );
  return (
    <Empty
      title="No phones are connected"
      action={
        <Link to="/start" className={buttonClass('primary')}>
          First steps
        </Link>
      }
    >
      {reasons.length === 0
        ? 'Phones connect through a host, a program that runs next to them.'
        : reasons.join(' ')}{' '}
      <code>phalanx doctor</code> shows on the machine with the phones what is missing.
    </Empty>
  );
}
