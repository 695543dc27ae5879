/** Uses of each member of a type, which return true if the member works as documented. */
type Uses<Type> = { readonly [Name in keyof Type]-?: () => unknown };

/** Reports the result of every use: `ok URL.hash`. A member without a use does not compile. */
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

/** Returns the error that `call` throws. */
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

/** Opens the settings, scrolled to the top. */
export async function openSettings(): Promise<AndroidNode> {
  await agent.actions.stopApp(settings);
  await agent.actions.launchApp(settings);
  await agent.actions.waitForText('Network & internet');
  return agent.actions.waitForIdle({ quietMs: 100 });
}

/** Opens the form. Returns its empty field for the name. */
export async function openForm(): Promise<AndroidNode> {
  await agent.actions.stopApp(form);
  await agent.actions.launchApp(form);
  return agent.actions.waitForId('name');
}
