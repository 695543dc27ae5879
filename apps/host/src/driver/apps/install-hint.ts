/** What people can do about an answer of `pm install`; begins with a space, or is empty. */
export function installHint(answer: string): string {
  if (answer.includes('USER_RESTRICTED'))
    return ' Switch on "Install via USB" in the developer options (Xiaomi also asks for a SIM card and an account) and confirm the dialog on the phone.';
  if (answer.includes('VERIFICATION_FAILURE'))
    return ' Switch off "Verify apps over USB" in the developer options.';
  return /INSUFFICIENT_STORAGE|No space/i.test(answer) ? ' Free some space on the phone.' : '';
}
