/**
 * The text messages (SMS) that the phone has received. Calls need a host whose operator has set
 * `PHALANX_ALLOW_SMS=true`; otherwise they reject with `not_allowed`. They reject with `messages_refused` on
 * phones whose maker keeps messages from the computer; there, `agent.actions.readNotifications()` may have the
 * code. Phalanx stores no messages, except for texts that the code prints.
 *
 * @example
 * const asked = Date.now();
 * const code = await agent.messages.waitForCode({ since: asked, timeoutMs: 2000 }).catch(() => undefined);
 * if (code !== undefined) await agent.actions.writeText(code);
 */
interface AgentMessages {
  /** Lists messages, newest first, at most 50. */
  list(options?: MessageOptions): Promise<readonly PhoneMessage[]>;
  /**
   * Waits for a message with a code, looking every 1.5 seconds, and returns the code of the newest one. Rejects
   * with `no_code` when the time is over. Without `since`, messages of the last 10 seconds count. Pass the time
   * before the code was requested, so that an earlier code is not taken for it.
   */
  waitForCode(options?: CodeOptions): Promise<string>;
}

interface MessageOptions extends ActionOptions {
  /**
   * Time of the oldest messages that count: epoch milliseconds of `Date.now()`, or a `Date`. Default of `list`: the
   * last day.
   */
  since?: number | Date;
  /** Number or name of the sender. Spaces, hyphens and letter case do not count. Default: any sender. */
  from?: string;
}

interface CodeOptions extends MessageOptions {
  /**
   * Expression that matches the code; its first group is the code, or the whole match without a group. Default:
   * 4 to 8 digits.
   */
  pattern?: RegExp;
  /** Maximum wait in milliseconds. Default 60,000. */
  timeoutMs?: number;
}

interface PhoneMessage {
  /** ID of the message on the phone. */
  id: number;
  /** Sender: a number, or a name such as `Example`. */
  from: string;
  text: string;
  /** Time of arrival in epoch milliseconds, to the second. */
  receivedAt: number;
}
