import { onTestFinished } from 'vitest';
import { type SimulatedPhoneOptions, type SimulatedPhone, startSimulatedPhone } from '../simulated-phone.ts';
import { type ConnectedAdb, connectAdb } from './connect-adb.ts';

/** Starts a phone that is stopped when the test ends. */
export async function startPhone(options: Partial<SimulatedPhoneOptions> = {}): Promise<SimulatedPhone> {
  const phone = await startSimulatedPhone({ serial: 'SIM-TEST', timeOfDay: '09:41', ...options });
  onTestFinished(() => phone.stop());
  return phone;
}

export interface PhoneWithShell {
  readonly phone: SimulatedPhone;
  readonly adb: ConnectedAdb['adb'];
  /** Runs a command line with the shell protocol. */
  readonly shell: (commandLine: string) => Promise<{ stdout: string; stderr: string; exitCode: number }>;
}

/** Starts a phone with a connected ADB client. */
export async function startPhoneWithShell(
  options: Partial<SimulatedPhoneOptions> = {},
): Promise<PhoneWithShell> {
  const phone = await startPhone(options);
  const connected = await connectAdb(phone.port);
  onTestFinished(() => connected.close());
  const { adb } = connected;
  return {
    phone,
    adb,
    shell: async (commandLine) => {
      const protocol = adb.subprocess.shellProtocol;
      if (!protocol) throw new Error('The phone does not offer shell_v2.');
      return protocol.spawnWaitText(commandLine);
    },
  };
}
