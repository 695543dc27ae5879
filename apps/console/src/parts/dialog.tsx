import { Dialog as BaseDialog } from '@base-ui/react/dialog';
import type { ReactNode } from 'react';

import { buttonClass } from './button.tsx';
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
