import { calls, form, settings, thrown } from './calls';

const { apps, files } = agent;
const made = 'com.example.made';
const folder = '/sdcard/Download/names';

/** Checks actions that change the phone. `base64` encodes an APK. */
async function changing(base64: string): Promise<void> {
  const apk = Uint8Array.from(atob(base64), (byte) => byte.charCodeAt(0));
  const isInstalled = async (): Promise<boolean> =>
    (await apps.list()).some(({ packageName }) => packageName === made);
  const permissions = async (): Promise<string> => (await agent.shell(`dumpsys package ${made}`)).stdout;
  await calls<AgentApps>('AgentApps', {
    list: async () => (await apps.list()).length > 3,
    users: async () => (await apps.users()).length === 1,
    install: async () => {
      await apps.install(apk);
      await files.write(`${folder}/made.apk`, apk);
      await apps.install(`${folder}/made.apk`, { grantPermissions: false });
      const refused = await thrown(() => apps.install(apk.subarray(0, 100)));
      return (await isInstalled()) && refused instanceof AgentError && refused.code === 'app_change_refused';
    },
    grantPermission: async () => {
      await apps.grantPermission(made, 'android.permission.CAMERA');
      return (await permissions()).includes('CAMERA: granted=true');
    },
    revokePermission: async () => {
      await apps.revokePermission(made, 'android.permission.CAMERA');
      return !(await permissions()).includes('CAMERA');
    },
    clearData: async () => (await apps.clearData(form)) === undefined,
    uninstall: async () => {
      await apps.uninstall(made);
      return !(await isInstalled());
    },
  });
  await calls<InstalledParts>('InstalledParts', {
    notInstalled: async () => (await apps.install(apk)).notInstalled.length === 0,
  });
  await calls<Omit<InstallOptions, keyof AppOptions>>('InstallOptions', {
    grantPermissions: async () => {
      await apps.install(apk, { grantPermissions: true });
      return isInstalled();
    },
  });
  const app = (await apps.list()).find(({ packageName }) => packageName === settings);
  await calls<InstalledApp>('InstalledApp', {
    packageName: () => app?.packageName === settings,
    isSystem: () => app?.isSystem === false,
  });
}

async function storing(): Promise<void> {
  const path = `${folder}/größe.txt`;
  const large = Uint8Array.from({ length: 1_000_000 }, (_, index) => index % 251);
  await calls<WrittenFile>('WrittenFile', {
    inMediaStore: async () => !(await files.write('/sdcard/Android/data/a.txt', 'a')).inMediaStore,
  });
  await calls<AgentFiles>('AgentFiles', {
    write: async () => {
      await files.write(`${folder}/large.bin`, large);
      return (await files.write(path, 'größer\n')).inMediaStore;
    },
    list: async () => (await files.list(folder)).some(({ name }) => name === 'größe.txt'),
    read: async () => {
      const back = await files.read(`${folder}/large.bin`);
      const isSame = back.length === large.length && back.every((byte, index) => byte === large[index]);
      return isSame && new TextDecoder().decode(await files.read(path)) === 'größer\n';
    },
    delete: async () => {
      await files.delete(`${folder}/large.bin`);
      const gone = await thrown(() => files.read(`${folder}/large.bin`));
      return gone instanceof AgentError && gone.code === 'file_not_found';
    },
  });
  const file = (await files.list(folder)).find(({ name }) => name === 'größe.txt');
  await calls<PhoneFile>('PhoneFile', {
    name: () => file?.name === 'größe.txt',
    isFolder: () => file?.isFolder === false,
    sizeBytes: () => file?.sizeBytes === 9,
    modifiedAt: () => (file?.modifiedAt ?? 0) > 1_700_000_000_000,
  });
}

async function commanding(): Promise<void> {
  const said = await agent.shell('echo a; echo b >&2; false');
  await calls<ShellResult>('ShellResult', {
    stdout: () => said.stdout === 'a\n',
    stderr: () => said.stderr === 'b\n',
    exitCode: () => said.exitCode === 1,
  });
  await calls<Omit<ShellOptions, keyof ActionOptions>>('ShellOptions', {
    timeoutMs: async () => {
      const wrong = await thrown(() => agent.shell('true', { timeoutMs: 0 }));
      return wrong instanceof AgentError && wrong.code === 'invalid_call';
    },
  });
}

async function ofUsers(): Promise<void> {
  const [owner] = await agent.apps.users();
  await calls<PhoneUser>('PhoneUser', {
    id: () => owner?.id === 0,
    name: () => owner?.name === 'Owner',
    isRunning: () => owner?.isRunning === true,
  });
  await calls<Omit<AppOptions, keyof ActionOptions>>('AppOptions', {
    user: async () => {
      const error = await thrown(() => agent.apps.list({ user: 11 }));
      return error instanceof AgentError && error.code === 'user_refused';
    },
  });
}

async function messaging(): Promise<void> {
  const { messages } = agent;
  const codeOf = async (options: CodeOptions): Promise<unknown> => {
    const error = await thrown(() => messages.waitForCode({ timeoutMs: 0, ...options }));
    return error instanceof AgentError && error.code === 'no_code' && error.message;
  };
  await calls<AgentMessages>('AgentMessages', {
    list: async () => (await messages.list()).length === 1,
    waitForCode: async () => String(await codeOf({})).includes('no message came'),
  });
  await calls<Omit<MessageOptions, keyof ActionOptions>>('MessageOptions', {
    since: async () => (await messages.list({ since: new Date() })).length === 0,
    from: async () => (await messages.list({ from: 'Example' })).length === 0,
  });
  const [first] = await messages.list({ from: 'network' });
  await calls<PhoneMessage>('PhoneMessage', {
    id: () => first?.id === 1,
    from: () => first?.from === 'Network',
    text: () => first?.text === 'Welcome!\nYou have 14 days left.',
    receivedAt: () => Math.abs(Date.now() - (first?.receivedAt ?? 0)) < 86_400_000,
  });
  await calls<Omit<CodeOptions, keyof MessageOptions>>('CodeOptions', {
    pattern: async () => (await codeOf({ pattern: /No\. (\w+)/ })) !== false,
    timeoutMs: async () => String(await codeOf({ timeoutMs: 10 })).includes('Waited 0.0 s'),
  });
}

export async function phone(apk: string): Promise<void> {
  await calls<AgentSecrets>('AgentSecrets', {
    get: async () => {
      const refused = await thrown(() => agent.secrets.get('NO_SUCH_SECRET'));
      return refused instanceof AgentError && refused.code === 'secret_not_found';
    },
    type: async () => {
      const refused = await thrown(() => agent.secrets.type('NO_SUCH_SECRET'));
      return refused instanceof AgentError && refused.code === 'secret_not_found';
    },
  });
  await changing(apk);
  await storing();
  await commanding();
  await messaging();
  await ofUsers();
}
