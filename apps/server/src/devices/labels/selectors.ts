import {
  isSelected,
  parseSelector,
  poolKey,
  type SelectablePhone,
  SelectorProblem,
  type SelectorTerm,
} from '@phalanx/protocol';

import type { FleetDevice } from '../fleet-device.ts';
import { ApiError } from '../../errors/api-error.ts';
import type { PhoneLabels } from './phone-labels.ts';

/** Throws `invalid_selector`; a pool of the user counts as what it selects at this moment. */
export function readSelector(labels: PhoneLabels, userId: string, selector: string): SelectorTerm[] {
  try {
    return parseSelector(selector).flatMap((term) =>
      term.key === poolKey ? termsOfPool(labels, userId, term) : term,
    );
  } catch (error) {
    if (!(error instanceof SelectorProblem)) throw error;
    throw ApiError.of('invalid_selector', { selector, problem: error.message });
  }
}

function termsOfPool(
  labels: PhoneLabels,
  userId: string,
  { operator, values }: SelectorTerm,
): SelectorTerm[] {
  const [name = ''] = values;
  if (operator !== '=' || values.length > 1) throw new SelectorProblem('it names one pool as pool=NAME');
  const pool = labels.findPool(userId, name);
  if (pool === undefined) throw new SelectorProblem(`you have no pool "${name}"`);
  return parseSelector(pool.selector);
}

/** Whether the phone is selected, in the state that its host says. */
export const selects = (labels: PhoneLabels, terms: readonly SelectorTerm[], device: FleetDevice): boolean =>
  isSelected(terms, selectable(labels, device));

const selectable = (labels: PhoneLabels, device: FleetDevice): SelectablePhone => {
  const { brand, model, android_version, sdk_version, host_id, host_name } = device.stored;
  return {
    ...{ device_id: device.id, serial: device.serial, brand, model, android_version, sdk_version },
    ...{ name: labels.nameOf(device), labels: labels.labelsOf(device), state: device.state },
    host: { id: host_id, name: host_name },
  };
};
