import { Toast } from '@base-ui/react/toast';

import { HelpLink, messageOf } from './states.tsx';
import { buttonClass } from './button.tsx';
import { Icon } from './icon.tsx';
import styles from './notices.module.css';

const notices = Toast.createToastManager();

/** Shows a notice in a corner for a few seconds. */
export const notify = (title: string, description?: string): void =>
  void notices.add({ title, ...(description === undefined ? {} : { description }) });

export const notifyFailure = (title: string, error: unknown): void =>
  void notices.add({
    title,
    description: (
      <>
        {messageOf(error)} <HelpLink error={error} />
      </>
    ),
    type: 'failure',
    timeout: 10_000,
    // A high-priority notice is hidden from screen readers, with its link and button, until it gets the focus.
    priority: 'low',
  });

function List() {
  const { toasts } = Toast.useToastManager();
  return toasts.map((toast) => (
    <Toast.Root key={toast.id} toast={toast} className={styles['notice']} data-type={toast.type}>
      <Toast.Content className={styles['content']}>
        <Toast.Title />
        <Toast.Description />
      </Toast.Content>
      <Toast.Close className={buttonClass('quiet', true)} aria-label="Close notice">
        <Icon name="close" size={14} />
      </Toast.Close>
    </Toast.Root>
  ));
}

export const Notices = () => (
  <Toast.Provider toastManager={notices}>
    <Toast.Viewport className={styles['viewport']}>
      <List />
    </Toast.Viewport>
  </Toast.Provider>
);
