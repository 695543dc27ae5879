import { nearestOf } from '@phalanx/automation/nearest-texts';
import { differenceOf, readableText } from '@phalanx/automation/text-difference';
import type { ActSelector } from '@phalanx/protocol';

import type { Look } from './phone-look.ts';

const maxNearest = 3;
/** Maximum number of compared texts: each is compared character by character on the event loop of the host. */
const maxTexts = 300;
const maxLength = 1000;

/**
 * Returns the end of a sentence that names the most similar texts on the screen and the first difference. Empty when
 * there are none.
 */
export function nearestTo(target: string | ActSelector, { compact }: Pick<Look, 'compact'>): string {
  const [wanted] = typeof target === 'string' ? [target] : textsIn(target);
  if (wanted === undefined) return '';
  const texts = compact.lines.flatMap(({ said }) => said).slice(0, maxTexts);
  const nearest = nearestOf(texts, wanted).slice(0, maxNearest);
  if (nearest.length === 0) return '';
  const shown = nearest.map((text) => `"${readableText(text)}"`).join(', ');
  const difference = differenceOf(wanted, nearest[0] ?? '');
  return `; nearest are ${shown}${difference === undefined ? '' : `: ${difference}`}`.slice(0, maxLength);
}

function textsIn(selector: ActSelector): string[] {
  const { hasText, hasDescription, ...others } = selector;
  const own = [hasText, hasDescription].filter((text) => text !== undefined);
  const anchors = Object.values(others).filter((value) => typeof value === 'object');
  return [...own, ...anchors.flatMap(textsIn)];
}
