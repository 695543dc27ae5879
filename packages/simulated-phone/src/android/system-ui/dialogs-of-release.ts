import type { SystemDialog, SystemDialogOption, SystemHost } from '../system-host.ts';

/** The permission that an app asks for. */
export type AskedPermission = 'location' | 'contacts' | 'photos';

/** System with the dialogs of a release, which may differ from its own. */
export interface ReleasedSystem {
  readonly android: SystemHost;
  readonly sdkVersion: number;
}

interface AppOfDialog {
  readonly packageName: string;
  readonly label: string;
}

type Button = readonly [id: string, label: string];

/** Android 10: the permission controller replaced the package installer. */
const controllerSince = 29;
const oneTimeSince = 30;
const selectedPhotosSince = 34;
/** Android 8: "Close app" appears beside "Open app again". */
const alwaysClosesSince = 26;

const deny: Button = ['permission_deny_button', 'Don’t allow'];
const allow: Button = ['permission_allow_button', 'Allow'];

/**
 * Returns the buttons in the order of grant_permissions.xml of the release (packages/apps/PackageInstaller, then
 * packages/modules/Permission).
 */
function buttonsOf(asked: AskedPermission, sdkVersion: number): readonly Button[] {
  if (sdkVersion < controllerSince)
    return [
      ['permission_deny_button', 'DENY'],
      ['permission_allow_button', 'ALLOW'],
    ];
  if (asked === 'photos' && sdkVersion >= selectedPhotosSince)
    return [
      ['permission_allow_selected_button', 'Select photos and videos'],
      ['permission_allow_all_button', 'Allow all'],
      deny,
    ];
  if (asked !== 'location') return [allow, deny];
  if (sdkVersion < oneTimeSince)
    return [
      ['permission_allow_always_button', 'Allow all the time'],
      ['permission_allow_foreground_only_button', 'Allow only while using the app'],
      ['permission_deny_button', 'Deny'],
    ];
  return [
    ['permission_allow_foreground_only_button', 'While using the app'],
    ['permission_allow_one_time_button', 'Only this time'],
    deny,
  ];
}

/**
 * Builds "Allow App to access …?", as in GrantPermissionsActivity of the release. Phones with Google's services have
 * Google's package and AOSP names in the IDs. `again`: the app was refused before, which changes the deny button.
 */
export function permissionDialog(
  { android, sdkVersion }: ReleasedSystem,
  { label }: AppOfDialog,
  {
    asked,
    again = false,
    onAnswer,
  }: { asked: AskedPermission; again?: boolean; onAnswer?: (id: string) => void },
): SystemDialog {
  const program = sdkVersion < controllerSince ? 'packageinstaller' : 'permissioncontroller';
  const ids = `com.android.${program}:id`;
  const options = buttonsOf(asked, sdkVersion).map(([id, text]) => {
    const shown = again && id === deny[0] ? 'permission_deny_and_dont_ask_again_button' : id;
    return option(android, [`${ids}/${shown}`, text], () => onAnswer?.(shown));
  });
  return {
    title: `Allow ${label} to access this device’s ${asked}?`,
    packageName: `com.google.android.${program}`,
    options,
    window: {
      title: `com.google.android.${program}/com.android.${program}.permission.ui.GrantPermissionsActivity`,
      packageName: `com.google.android.${program}`,
      titleId: `${ids}/permission_message`,
    },
  };
}

/**
 * Builds "App keeps stopping" (AppErrorDialog.java: up to Android 7, "Close app" is missing if the app can be
 * reopened).
 */
export function crashDialog({ android, sdkVersion }: ReleasedSystem, app: AppOfDialog): SystemDialog {
  const reopen = option(
    android,
    ['android:id/aerr_restart', 'Open app again'],
    () => void android.startActivity(app.packageName),
  );
  const others: Button[] = [
    ['android:id/aerr_app_info', 'App info'],
    ['android:id/aerr_close', 'Close app'],
  ];
  const isNew = sdkVersion >= alwaysClosesSince;
  return {
    title: `${app.label} keeps stopping`,
    packageName: app.packageName,
    options: [reopen, ...(isNew ? others.map((button) => option(android, button)) : [])],
  };
}

/** Builds "App isn't responding" (AppNotRespondingDialog.java, app_anr_dialog.xml). */
export function notRespondingDialog(
  { android }: ReleasedSystem,
  app: AppOfDialog,
  forceStop: (packageName: string) => void,
): SystemDialog {
  return {
    title: `${app.label} isn't responding`,
    packageName: app.packageName,
    options: [
      option(android, ['android:id/aerr_close', 'Close app'], () => forceStop(app.packageName)),
      option(android, ['android:id/aerr_wait', 'Wait']),
    ],
    window: {
      title: `Application Not Responding: ${app.packageName}`,
      packageName: 'android',
      titleId: 'android:id/alertTitle',
    },
  };
}

/**
 * Builds "Open with" (ResolverActivity.java): both buttons are disabled until an entry is chosen. On Android 14, one
 * button has the ID of another program.
 */
export function chooserDialog(
  system: ReleasedSystem,
  apps: readonly AppOfDialog[],
  onChoice: (app: AppOfDialog, isForGood: boolean) => void,
  chosen?: AppOfDialog,
): SystemDialog {
  const { android, sdkVersion } = system;
  const program = sdkVersion < selectedPhotosSince ? 'android' : 'com.android.intentresolver';
  const choose = (app: AppOfDialog) => android.showSystemDialog(chooserDialog(system, apps, onChoice, app));
  const entries = apps.map((app): SystemDialogOption => ({
    id: 'android:id/text1',
    label: app.label,
    onTap: () => choose(app),
  }));
  const button = (id: string, label: string, isForGood: boolean): SystemDialogOption => ({
    ...option(android, [`${program}:id/${id}`, label], () => {
      if (chosen) onChoice(chosen, isForGood);
    }),
    enabled: chosen !== undefined,
  });
  return {
    title: 'Open with',
    packageName: program,
    options: [...entries, button('button_once', 'Just once', false), button('button_always', 'Always', true)],
    window: {
      title: `${program}/com.android.internal.app.ResolverActivity`,
      packageName: program,
      titleId: `${program}:id/title`,
    },
  };
}

/** Builds "Do you want to install this app?" (install_start.xml up to Android 9, an AlertActivity since then). */
export function installerDialog(
  { android, sdkVersion }: ReleasedSystem,
  onAnswer: (isInstalled: boolean) => void,
): SystemDialog {
  const isOld = sdkVersion < controllerSince;
  const packageName = 'com.google.android.packageinstaller';
  const [cancel, install] = isOld
    ? ['com.android.packageinstaller:id/cancel_button', 'com.android.packageinstaller:id/ok_button']
    : ['android:id/button2', 'android:id/button1'];
  return {
    title: 'Do you want to install this app?',
    packageName,
    options: [
      option(android, [cancel, 'Cancel'], () => onAnswer(false)),
      option(android, [install, 'Install'], () => onAnswer(true)),
    ],
    window: {
      title: `${packageName}/com.android.packageinstaller.PackageInstallerActivity`,
      packageName,
      titleId: isOld ? 'com.android.packageinstaller:id/install_confirm_question' : 'android:id/alertTitle',
    },
  };
}

/**
 * Builds an app's "Confirm it's you" (BiometricPrompt) after a face was recognized (biometric_prompt_button_bar.xml,
 * AuthContainerView.java of SystemUI).
 */
export function biometricDialog({ android }: ReleasedSystem): SystemDialog {
  const packageName = 'com.android.systemui';
  return {
    title: 'Confirm it’s you',
    packageName,
    options: [
      option(android, [`${packageName}:id/button_negative`, 'Cancel']),
      option(android, [`${packageName}:id/button_use_credential`, 'Use PIN']),
      option(android, [`${packageName}:id/button_confirm`, 'Confirm']),
    ],
    window: { title: 'BiometricPrompt', packageName, titleId: `${packageName}:id/title` },
  };
}

/** Returns an option that closes the dialog when pressed. */
function option(android: SystemHost, [id, label]: Button, act: () => void = () => {}): SystemDialogOption {
  return {
    id,
    label,
    onTap: () => {
      android.showSystemDialog(undefined);
      act();
    },
  };
}
