import { Dialog as BaseDialog } from '@base-ui/react/dialog';
import type { ReactNode } from 'react';

import { Button, buttonClass } from './button.tsx';
import { classNames } from './class-names.ts';
import styles from './dialog.module.css';
import { Icon } from './icon.tsx';
import { popupRoot } from './popup-root.ts';

interface DialogProps {
  title: string;
  isOpen: boolean;
  onClose: () => void;
  isWide?: boolean;
  children: ReactNode;
  foot?: ReactNode;
}

export const Dialog = ({ title, isOpen, onClose, isWide = false, children, foot }: DialogProps) => (
  <BaseDialog.Root open={isOpen} onOpenChange={(open) => !open && onClose()}>
    <BaseDialog.Portal container={popupRoot()}>
      <BaseDialog.Backdrop className={styles['backdrop']} />
      <BaseDialog.Popup className={classNames(styles['popup'], isWide && styles['wide'])}>
        <div className={styles['head']}>
          <BaseDialog.Title>{title}</BaseDialog.Title>
          <BaseDialog.Close className={buttonClass('quiet', true)} aria-label="Close">
            <Icon name="close" />
          </BaseDialog.Close>
        </div>
        <div className={styles['body']}>{children}</div>
        {foot !== undefined && <div className={styles['foot']}>{foot}</div>}
      </BaseDialog.Popup>
    </BaseDialog.Portal>
  </BaseDialog.Root>
);

interface ActionDialogProps extends Omit<DialogProps, 'isOpen' | 'foot'> {
  /** The word on the button that does it. */
  action: string;
  look?: 'primary' | 'danger';
  isBusy?: boolean;
  /** Why it can't be done yet. */
  reason?: string | undefined;
  onAct: () => Promise<void>;
}

/** Asks for what one action needs; shown as long as it stands in the page. */
export const ActionDialog = ({
  action,
  look = 'primary',
  isBusy = false,
  reason,
  onAct,
  ...rest
}: ActionDialogProps) => (
  <Dialog
    {...rest}
    isOpen
    foot={
      <>
        <Button onClick={rest.onClose}>Cancel</Button>
        <Button look={look} isBusy={isBusy} reason={reason} onClick={() => void onAct()}>
          {action}
        </Button>
      </>
    }
  />
);
