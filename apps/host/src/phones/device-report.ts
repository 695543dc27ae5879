import type { DeviceReport } from '@phalanx/protocol';

import type { ServiceClock } from '../connection/service-clock.ts';
import type { Phone } from './phone.ts';

/** The limits of `DeviceReport` for texts; what a phone says of itself may be longer. */
const maxTextLength = 500;
const maxReasonLength = 2000;

/** A phone in the words of the protocol. Before a phone has described itself, its texts are empty and its numbers 0. */
export function toDeviceReport({ serial, state, description }: Phone, clock: ServiceClock): DeviceReport {
  return {
    serial,
    state: state.state,
    reason: state.reason.slice(0, maxReasonLength),
    since: clock.toService(state.since),
    brand: cut(description?.brand),
    model: cut(description?.model),
    android_version: cut(description?.androidVersion),
    sdk_version: description?.sdkVersion ?? 0,
    screen_width: description?.screenWidth ?? 0,
    screen_height: description?.screenHeight ?? 0,
  };
}

function cut(text = ''): string {
  return text.slice(0, maxTextLength);
}
