export { makeApk, makeZip } from './android/packages/apk.ts';
export { makeScrcpyServer } from './scrcpy/scrcpy-server.ts';
export { Android } from './android/android.ts';
export type { Display } from './android/display/display.ts';
export type { OtherDisplay } from './screen/other-display.ts';
export type { InputEvent } from './android/input/input-log.ts';
export type { SystemDialog } from './android/system-host.ts';
export {
  type AskedPermission,
  biometricDialog,
  chooserDialog,
  crashDialog,
  installerDialog,
  notRespondingDialog,
  permissionDialog,
  type ReleasedSystem,
} from './android/system-ui/dialogs-of-release.ts';
export { type App, type AppContext, type AppDefinition, defineApp, type Dialog } from './view/app.ts';
export { sampleApps } from './apps/sample-apps.ts';
export type { Authorization } from './adb/authorization.ts';
export type { Faults, FaultState, UiautomatorFault } from './faults.ts';
export type { SimulatedPhoneOptions } from './simulated-phone.ts';
export { type SimulatedPhone, startSimulatedPhone } from './simulated-phone.ts';
export { defaultHelperSettings } from './ui-server/session.ts';
export type { Program } from './shell/program.ts';
export type { View, Window } from './view/view.ts';
