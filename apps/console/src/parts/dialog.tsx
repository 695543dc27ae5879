import { Dialog as BaseDialog } from '@base-ui/react/dialog';
import { useRef, type ReactNode } from 'react';

import { Button, buttonClass } from './button.tsx';
import { classNames } from './class-names.ts';
import styles from './dialog.module.css';
import { Form, SubmitButton } from './form.tsx';
import { Icon } from './icon.tsx';

interface DialogProps {
  title: string;
  isOpen: boolean;
  onClose: () => void;
  isWide?: boolean;
  children: ReactNode;
  foot?: ReactNode;
  /** Called when the `SubmitButton` of the dialog is clicked. */
  onAct?: () => unknown;
}

const firstField = 'input:not([type]), textarea, select:not([disabled])';

export function Dialog({ title, isOpen, onClose, isWide = false, children, foot, onAct }: DialogProps) {
  const body = useRef<HTMLDivElement>(null);
  const content = (
    <>
      <div ref={body} className={styles['body']}>
        {children}
      </div>
      {foot !== undefined && <div className={styles['foot']}>{foot}</div>}
    </>
  );
  return (
    <BaseDialog.Root
      open={isOpen}
      onOpenChange={(open) => !open && onClose()}
      // A click outside, such as the second half of a double click, must not discard typed text or running work.
      disablePointerDismissal={onAct !== undefined}
    >
      <BaseDialog.Portal container={popupRoot()}>
        <BaseDialog.Backdrop className={styles['backdrop']} />
        <BaseDialog.Popup
          className={classNames(styles['popup'], isWide && styles['wide'])}
          // Focuses the first field, if any. Not after a touch, because the on-screen keyboard would cover the
          // dialog.
          initialFocus={(by) =>
            by === 'touch' || (body.current?.querySelector<HTMLElement>(firstField) ?? true)
          }
        >
          <div className={styles['head']}>
            <BaseDialog.Title>{title}</BaseDialog.Title>
            <BaseDialog.Close className={buttonClass('quiet', true)} aria-label="Close">
              <Icon name="close" />
            </BaseDialog.Close>
          </div>
          {onAct === undefined ? (
            content
          ) : (
            <Form className={styles['form']} onAct={onAct}>
              {content}
            </Form>
          )}
        </BaseDialog.Popup>
      </BaseDialog.Portal>
    </BaseDialog.Root>
  );
}

interface ActionDialogProps extends Omit<DialogProps, 'isOpen' | 'foot' | 'onAct'> {
  /** Label of the button that performs the action. */
  action: string;
  look?: 'primary' | 'danger';
  /** Reason why the action is not possible yet. */
  reason?: string | undefined;
  onAct: () => Promise<void>;
}

/** Dialog for the input of one action; open while it is mounted. */
export const ActionDialog = ({ action, look = 'primary', reason, ...rest }: ActionDialogProps) => (
  <Dialog
    {...rest}
    isOpen
    foot={
      <>
        <Button onClick={rest.onClose}>Cancel</Button>
        <SubmitButton look={look} reason={reason}>
          {action}
        </SubmitButton>
      </>
    }
  />
);

/**
 * Returns the element that contains popups, inside of the main landmark, so that their content belongs to a landmark.
 */
export const popupRoot = (): HTMLElement => document.getElementById('popups') ?? document.body;
