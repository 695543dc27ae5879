import type { ReactNode } from 'react';

import { Button } from '../../parts/button.tsx';
import { CopyButton } from '../../parts/copy.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import styles from './settings.module.css';

interface SecretDialogProps {
  title: string;
  /** Kind of secret, such as `token`. */
  what?: string;
  secret: string;
  onClose: () => void;
  /** Purpose of the secret. */
  children: ReactNode;
}

/** Shows a new token or key, for the only time. */
export const SecretDialog = ({ title, what = 'token', secret, onClose, children }: SecretDialogProps) => (
  <Dialog title={title} isOpen onClose={onClose} foot={<Button onClick={onClose}>Done</Button>}>
    <p>{children}</p>
    <div className={styles['secret']}>
      <code>{secret}</code>
      <CopyButton text={secret} label={`Copy the ${what}`} />
    </div>
  </Dialog>
);
