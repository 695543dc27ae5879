export { errorText } from './error-text.ts';
export { explainFolder } from './folder-problem.ts';
export * from './formats.ts';
export { freeBytesOf } from './free-bytes.ts';
export { logFormat, programLog } from './program-log.ts';
export { dataDir, logLevel, requireConfinement } from './shared-settings.ts';
export {
  describeSetting,
  type Environment,
  parseSettings,
  type Setting,
  type SettingFormat,
  setting,
  shownDefault,
} from './setting.ts';
export { SettingError } from './setting.ts';
export { makeFolder, prepareFolder, tryWrite } from './folder-problem.ts';
