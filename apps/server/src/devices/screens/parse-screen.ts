import { DeviceScreen } from '@phalanx/protocol';
import { Compile } from 'typebox/compile';

const validator = Compile(DeviceScreen);

/** Undefined: the text is no JSON of a screen. */
export function parseScreen(text: string): DeviceScreen | undefined {
  try {
    const screen: unknown = JSON.parse(text);
    return validator.Check(screen) ? screen : undefined;
  } catch {
    return undefined;
  }
}
