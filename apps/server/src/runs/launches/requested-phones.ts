import type { LaunchBody } from '@phalanx/protocol';
import type { Static } from 'typebox';
import { ApiError } from '../../kernel/errors/api-error.ts';
import { chooseFree, listSelected, type PhoneSources } from './choose-phones.ts';

/** Fields of a launch request that select phones: a list, or a selector with or without a count. */
export type PhoneRequest = Pick<
  Static<typeof LaunchBody>,
  'device_ids' | 'selector' | 'count' | 'command' | 'automationId'
>;

/**
 * Returns the IDs of the phones that a request addresses: its list, or the phones that match its selector. A start
 * selects free phones, a stop those on which the project runs. Throws `invalid_request` and `too_few_devices`.
 */
export async function requestedPhones(
  sources: PhoneSources,
  userId: string,
  { device_ids, selector, count, command, automationId }: PhoneRequest,
): Promise<string[]> {
  if (device_ids !== undefined && selector === undefined && count === undefined) return device_ids;
  if (selector === undefined) {
    const problem =
      device_ids === undefined ? 'Field device_ids is required' : 'Field count needs a selector';
    throw ApiError.of('invalid_request', { problem });
  }
  if (device_ids !== undefined)
    throw ApiError.of('invalid_request', { problem: 'Give device_ids or selector, not both' });
  const choice = { userId, projectId: automationId.toLowerCase(), selector, count };
  if (command === 'start') return chooseFree(sources, choice);
  const ids = (await listSelected(sources, choice)).map(({ device }) => device.id);
  const running = await sources.activeRunRows.mapByDevice(ids);
  return ids.filter((id) => running.get(id)?.some((run) => run.automationId === choice.projectId));
}
