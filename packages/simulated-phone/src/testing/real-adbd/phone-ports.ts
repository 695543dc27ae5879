/** Ports of the UiAutomator2 server: its API and its picture stream. */
export const phonePorts = [6790, 7810] as const;
