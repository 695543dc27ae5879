import type { HostQuestionType, PhoneInput } from '@phalanx/protocol';

import type { Phone } from '../phone.ts';

const homeKey = 3;

interface Touching {
  readonly type: HostQuestionType;
  readonly touch?: { readonly by: string } | undefined;
  readonly input?: PhoneInput;
}

/** Whether it leaves the app in front, without a touch of it. */
const leavesApp = ({ input }: Touching): boolean =>
  input?.type === 'launch_app' || (input?.type === 'key' && input.key_code === homeKey);

/**
 * Throws while a secret that somebody else has typed stands in the app in front: what is typed or copied there could show it. The
 * screen is read only on a phone with such a field.
 */
export async function requireNoSecretOfOthers(
  phone: Pick<Phone, 'typedSecrets' | 'driver'>,
  question: Touching,
  signal: AbortSignal,
): Promise<void> {
  const by = question.touch?.by;
  if (by === undefined || leavesApp(question) || phone.typedSecrets.appsOfOthers(by).size === 0) return;
  // Reading the screen ends what has gone.
  const { root } = await phone.driver().call('screen.content', {}, signal);
  const app = root.packageName ?? '';
  if (!phone.typedSecrets.appsOfOthers(by).has(app)) return;
  throw new Error(
    `A secret that somebody else has typed stands in a field of ${app}. Press Home or launch another app; the field has to be empty or gone before others touch this app`,
  );
}
