import { barCommands } from './bar-commands.ts';
import { elementCommands } from './element-commands.ts';
import { gestureCommands } from './gesture-commands.ts';
import { windowCommands } from './window-commands.ts';
import type { Commands } from './command.ts';

/** By area: 58 commands that people use through Appium, each with what it has to have done. */
export const commands: Readonly<Record<string, Commands>> = {
  element: elementCommands,
  gestures: gestureCommands,
  windows: windowCommands,
  bars: barCommands,
};
