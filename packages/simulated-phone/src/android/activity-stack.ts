import type { App, Dialog, RunningApp } from '../view/app.ts';
import type { TextField } from '../view/text-field.ts';
import type { ScrollState } from '../view/view.ts';
import { mainUser } from './packages/packages.ts';

/** Started screen of an app, with the state that it keeps while others cover it. */
export interface Activity {
  readonly packageName: string;
  /** Class name with a leading dot. */
  readonly className: string;
  readonly scrolls: Map<string, ScrollState>;
  readonly fields: Map<string, TextField>;
  focusedField: TextField | undefined;
  dialog: Dialog | undefined;
}

export interface Task {
  readonly id: number;
  /** Process ID, which changes with each start of the process. */
  processId: number;
  readonly app: App;
  /** Android user of the app. */
  readonly user: number;
  readonly running: RunningApp;
  /** Activities, front one last; never empty. */
  readonly activities: Activity[];
}

function createActivity(packageName: string, className: string): Activity {
  return {
    packageName,
    className,
    scrolls: new Map(),
    fields: new Map(),
    focusedField: undefined,
    dialog: undefined,
  };
}

/** Returns `pkg/.Name` as Android prints a component: with the full class name. */
export function componentName({ packageName, className }: Activity): string {
  return `${packageName}/${className.startsWith('.') ? packageName : ''}${className}`;
}

/** Tasks of the phone, including the home screen's. */
export class ActivityStack {
  #tasks: Task[] = [];
  #nextTaskId = 1;
  #nextProcessId = 4301;

  /** Returns the front task. Throws before the home screen was started. */
  get front(): Task {
    const task = this.#tasks.at(-1);
    if (!task) throw new Error('No task runs: the home screen was not started.');
    return task;
  }

  get top(): Activity {
    const activity = this.front.activities.at(-1);
    if (!activity) throw new Error('A task without an activity is on the stack.');
    return activity;
  }

  /** Returns tasks without the home screen, most recent first. */
  listRecent(): Task[] {
    return this.#tasks.filter((task) => !task.app.isHome).toReversed();
  }

  find(packageName: string, user = mainUser): Task | undefined {
    return this.#tasks.find((task) => task.app.packageName === packageName && task.user === user);
  }

  /** Returns the processes of an app, of all Android users. */
  processesOf(packageName: string): number[] {
    return this.#tasks.flatMap(({ app, processId }) => (app.packageName === packageName ? [processId] : []));
  }

  /** Ends the process of a task, which Android restarts at once. */
  restart(task: Task): void {
    task.processId = this.#nextProcessId++;
  }

  bringToFront(task: Task): void {
    this.#tasks = [...this.#tasks.filter((other) => other !== task), task];
  }

  start(app: App, running: RunningApp, { className, user }: { className: string; user: number }): Task {
    const task = {
      id: this.#nextTaskId++,
      processId: this.#nextProcessId++,
      app,
      user,
      running,
      activities: [createActivity(app.packageName, className)],
    };
    this.#tasks.push(task);
    return task;
  }

  /** Puts an activity on top unless it already is. */
  open(task: Task, className: string): void {
    const top = task.activities.at(-1);
    if (top?.className !== className) task.activities.push(createActivity(task.app.packageName, className));
  }

  /** Ends the top activity. The home screen stays; an app without activities leaves the stack. */
  finishTop(task: Task): void {
    if (task.app.isHome && task.activities.length === 1) return;
    task.activities.pop();
    if (task.activities.length === 0) this.remove(task);
  }

  /** Clears the stack for a restart of the phone. */
  clear(): void {
    this.#tasks = [];
  }

  remove(task: Task): void {
    this.#tasks = this.#tasks.filter((other) => other !== task);
  }

  goHome(): void {
    const home = this.#tasks.find((task) => task.app.isHome);
    if (home) this.bringToFront(home);
  }
}
