/** Each member of a type, with a use of it that is true when it does what it says. */
type Uses<Type> = { readonly [Name in keyof Type]-?: () => unknown };

/** Says of every use whether it held: `ok URL.hash`. A member without a use does not compile. */
export async function calls<Type>(name: string, uses: Uses<Type>): Promise<void> {
  for (const member of Reflect.ownKeys(uses)) {
    const label = `${name}.${typeof member === 'symbol' ? (member.description ?? '') : member}`;
    await holds(label, Reflect.get(uses, member) as () => unknown);
  }
}

export async function holds(label: string, use: () => unknown): Promise<void> {
  try {
    const said = await use();
    if (said === true) console.log(`ok ${label}`);
    else console.error(`wrong ${label}:`, said);
  } catch (error) {
    console.error(`wrong ${label}:`, error);
  }
}

/** The error that `call` throws. */
export async function thrown(call: () => unknown): Promise<unknown> {
  try {
    await call();
  } catch (error) {
    return error;
  }
  return undefined;
}

export const settings = 'com.android.settings';
export const form = 'dev.phalanx.sample.form';

/** The settings, from their top. */
export async function openSettings(): Promise<AndroidNode> {
  await agent.actions.stopApp(settings);
  await agent.actions.launchApp(settings);
  await agent.actions.waitForText('Network & internet');
  return agent.actions.waitForIdle({ quietMs: 100 });
}

/** The empty field for the name in the form. */
export async function openForm(): Promise<AndroidNode> {
  await agent.actions.stopApp(form);
  await agent.actions.launchApp(form);
  return agent.actions.waitForId('name');
}
