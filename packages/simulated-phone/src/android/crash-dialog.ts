import type { SystemDialog } from './system-dialog.ts';
import type { SystemHost } from './system-host.ts';

/** "App keeps stopping", as Android shows it for an app that died in front. */
export function crashDialog(android: SystemHost, app: { packageName: string; label: string }): SystemDialog {
  const close = () => android.showSystemDialog(undefined);
  const reopen = () => {
    close();
    android.startActivity(app.packageName);
  };
  return {
    title: `${app.label} keeps stopping`,
    packageName: app.packageName,
    options: [
      { id: 'android:id/aerr_restart', label: 'Open app again', onTap: reopen },
      { id: 'android:id/aerr_app_info', label: 'App info', onTap: close },
      { id: 'android:id/aerr_close', label: 'Close app', onTap: close },
    ],
  };
}
