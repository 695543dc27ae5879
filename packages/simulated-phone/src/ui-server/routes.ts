import { performActions } from './actions-handler.ts';
import * as device from './device-handlers.ts';
import { acceptAlert, alertText, dismissAlert } from './device-handlers.ts';
import type { Handler } from './command.ts';
import * as element from './element-handlers.ts';
import * as gesture from './gesture-handlers.ts';
import { pinchClose, pinchOpen } from './gesture-handlers.ts';
import { scrollToElement, scrollToLocator } from './scroll-handlers.ts';

/** The commands of a session, below `/session/:sessionId/`, as the real server names them. */
const table: readonly (readonly [method: 'GET' | 'POST', path: string, handler: Handler])[] = [
  ['GET', 'source', device.source],
  ['GET', 'screenshot', device.screenshot],
  ['GET', 'orientation', device.orientation],
  ['GET', 'rotation', device.rotation],
  ['GET', 'window/:handle/size', device.windowSize],
  ['GET', 'appium/settings', device.getSettings],
  ['POST', 'appium/settings', device.updateSettings],
  ['GET', 'appium/device/info', device.deviceInfo],
  ['GET', 'appium/device/battery_info', device.batteryInfo],
  ['GET', 'appium/device/system_bars', device.systemBars],
  ['GET', 'appium/device/display_density', device.displayDensity],
  ['GET', 'appium/device/pixel_ratio', device.pixelRatio],
  ['GET', 'appium/device/declared_orientation', device.declaredOrientation],
  ['POST', 'appium/device/press_keycode', device.pressKeyCode],
  ['POST', 'appium/device/long_press_keycode', device.pressKeyCode],
  ['POST', 'appium/device/open_notifications', device.openNotifications],
  ['POST', 'appium/device/get_clipboard', device.getClipboard],
  ['POST', 'appium/device/set_clipboard', device.setClipboard],
  ['POST', 'orientation', device.setOrientation],
  ['POST', 'rotation', device.setRotation],
  ['POST', 'appium/list_windows', device.listWindows],
  ['POST', 'appium/list_displays', device.listDisplays],
  ['POST', 'appium/reset_ax_cache', device.resetCache],
  ['POST', 'back', device.back],

  ['POST', 'element', element.findElement],
  ['POST', 'elements', element.findElements],
  ['GET', 'element/active', element.activeElement],
  ['POST', 'element/:id/click', element.clickElement],
  ['POST', 'element/:id/clear', element.clearElement],
  ['POST', 'element/:id/value', element.sendKeysToElement],
  ['POST', 'keys', element.sendKeysToFocused],
  ['GET', 'element/:id/text', element.elementText],
  ['GET', 'element/:id/name', element.elementName],
  ['GET', 'element/:id/rect', element.elementRect],
  ['GET', 'element/:id/screenshot', element.elementScreenshot],
  ['GET', 'element/:id/size', element.elementSize],
  ['GET', 'element/:id/location', element.elementLocation],
  ['GET', 'element/:id/attribute/:name', element.elementAttribute],

  ['POST', 'actions', performActions],
  ['POST', 'appium/gestures/click', gesture.click],
  ['POST', 'appium/gestures/double_click', gesture.doubleClick],
  ['POST', 'appium/gestures/long_click', gesture.longClick],
  ['POST', 'appium/gestures/drag', gesture.drag],
  ['POST', 'appium/gestures/swipe', gesture.swipe],
  ['POST', 'appium/gestures/scroll', gesture.scroll],
  ['POST', 'appium/gestures/fling', gesture.fling],

  ['POST', 'appium/gestures/pinch_open', pinchOpen],
  ['POST', 'appium/gestures/pinch_close', pinchClose],
  ['POST', 'gestures/scroll_to', scrollToLocator],
  ['POST', 'appium/element/:id/scroll_to/:next', scrollToElement],

  ['GET', 'alert/text', alertText],
  ['POST', 'alert/accept', acceptAlert],
  ['POST', 'alert/dismiss', dismissAlert],
];

export interface Route {
  readonly handler: Handler;
  readonly parameters: Record<string, string>;
}

function matchPath(pattern: string, segments: readonly string[]): Record<string, string> | undefined {
  const parts = pattern.split('/');
  if (parts.length !== segments.length) return undefined;
  const parameters: Record<string, string> = {};
  for (const [index, part] of parts.entries()) {
    const segment = segments[index] ?? '';
    if (part.startsWith(':')) parameters[part.slice(1)] = segment;
    else if (part !== segment) return undefined;
  }
  return parameters;
}

/** The handler for the segments after the session's id. */
export function findRoute(method: string | undefined, segments: readonly string[]): Route | undefined {
  for (const [routeMethod, pattern, handler] of table) {
    const parameters = routeMethod === method ? matchPath(pattern, segments) : undefined;
    if (parameters) return { handler, parameters };
  }
  return undefined;
}
