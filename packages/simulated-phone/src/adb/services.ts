import type { Duplex } from 'node:stream';
import type { ServiceProgram } from './adb-connection.ts';
import type { DeviceSockets } from './device-sockets.ts';
import { packetShellService, rawShellService, type RunCommandLine } from './shell-service.ts';
import type { SyncFiles } from './sync-files.ts';
import { syncService } from './sync-service.ts';

export interface Services {
  readonly run: RunCommandLine;
  readonly files: SyncFiles;
  readonly sockets: DeviceSockets;
  /** Aborted when the phone goes off: nothing outlives that. */
  readonly power: () => AbortSignal;
  /** Called for `reboot:`; the phone then drops its connections. */
  reboot(): void;
}

function shellService(services: Services, name: string): ServiceProgram | undefined {
  const match = /^shell(?:,([^:]*))?:(.*)$/s.exec(name);
  if (!match) return undefined;
  const options = (match[1] ?? '').split(',');
  const commandLine = match[2] ?? '';
  if (!options.includes('v2')) return rawShellService(services.run, commandLine, { outlives: undefined });
  // Without an option, an interactive shell gets a terminal and a command does not.
  const pty = options.includes('pty') || (commandLine === '' && !options.includes('raw'));
  return packetShellService(services.run, commandLine, pty);
}

const say =
  (text: string): ServiceProgram =>
  (stream: Duplex) => {
    stream.end(text);
  };

/** `reverse:` answers like the adb server does: a status word, then a message with its length in hex. */
function reverseAnswer(command: string): string {
  const framed = (text: string) => text.length.toString(16).padStart(4, '0') + text;
  if (command === 'list-forward') return `OKAY${framed('')}`;
  if (command === 'killforward-all') return 'OKAYOKAY';
  return `FAIL${framed('reverse forwarding is not supported on this device')}`;
}

/** The services of a production build's adbd. Undefined for one that it refuses or does not know. */
export function findService(services: Services, name: string): ServiceProgram | undefined {
  const shell = shellService(services, name);
  if (shell) return shell;
  if (name.startsWith('exec:'))
    return rawShellService(services.run, name.slice('exec:'.length), { outlives: services.power() });
  if (name === 'sync:') return syncService(services.files);
  if (name.startsWith('reverse:')) return say(reverseAnswer(name.slice('reverse:'.length)));
  if (name === 'root:') return say('adbd cannot run as root in production builds\n');
  if (name === 'unroot:') return say('adbd not running as root\n');
  if (name === 'remount:') return say('Not running as root. Try "adb root" first.\n');
  if (name.startsWith('reboot:')) {
    return (stream) => {
      stream.end();
      services.reboot();
    };
  }
  return services.sockets.find(name);
}
