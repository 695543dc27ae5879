/**
 * The text messages (SMS) that the phone has received. It needs a host whose operator has set `PHALANX_ALLOW_SMS=true`; else it rejects with
 * `not_allowed`. It rejects with `messages_refused` on phones whose maker keeps messages from the computer; there,
 * `agent.actions.readNotifications()` may have the code. Phalanx stores no message: what the code prints, it does itself.
 *
 * @example
 * const asked = Date.now();
 * const code = await agent.messages.waitForCode({ since: asked, timeoutMs: 2000 }).catch(() => undefined);
 * if (code !== undefined) await agent.actions.writeText(code);
 */
interface AgentMessages {
  /** Newest first, at most 50. */
  list(options?: MessageOptions): Promise<readonly PhoneMessage[]>;
  /**
   * Waits for a message with a code, looking every 1.5 seconds, and gives the code of the newest one. Rejects with `no_code` when the time is over.
   * Without `since`, messages of the last 10 seconds count. Give the time before the code was asked for: an earlier code is then not taken for it.
   */
  waitForCode(options?: CodeOptions): Promise<string>;
}

interface MessageOptions extends ActionOptions {
  /** Only messages that came at that time or later: epoch milliseconds of `Date.now()`, or a `Date`. Default of `list`: since a day. */
  since?: number | Date;
  /** Only from this number or name. Spaces, hyphens and letter case do not count. Default: from everybody. */
  from?: string;
}

interface CodeOptions extends MessageOptions {
  /** Expression that matches the code: its first group, or all of it. Default: 4 to 8 digits. */
  pattern?: RegExp;
  /** Default 60,000. */
  timeoutMs?: number;
}

interface PhoneMessage {
  /** The number that the phone gives the message. */
  id: number;
  /** A number, or a name such as `Example`. */
  from: string;
  text: string;
  /** Epoch milliseconds, to the second. */
  receivedAt: number;
}
