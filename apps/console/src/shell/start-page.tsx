import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';

import { useMe, useMissingScope } from '../api/me.ts';
import { isReady, devicesQuery } from '../fleet/devices/device.tsx';
import { useReasonsForNoPhones } from '../fleet/hosts/hosts.ts';
import { AskForPhone } from '../fleet/devices/no-phones.tsx';
import { Button, buttonClass } from '../parts/button.tsx';
import { CopyButton } from '../parts/copy.tsx';
import { Icon } from '../parts/icon.tsx';
import { notifyFailure } from '../parts/notices.tsx';
import { Page } from '../parts/page.tsx';
import { createStarter } from '../code/projects/project-dialogs.tsx';
import { projectsQuery } from '../code/projects/project.tsx';
import { hasRunQuery } from '../runs/runs/run.tsx';
import styles from './start-page.module.css';

/** Guides a new user to the first run. */
export function StartPage() {
  const me = useMe();
  const { data: devices = [] } = useQuery(devicesQuery);
  const { data: projects } = useQuery(projectsQuery);
  const { data: hasRun = false } = useQuery(hasRunQuery);
  const reasons = useReasonsForNoPhones();
  const ready = devices.filter(isReady);
  const first = projects?.[0];
  return (
    <Page title="First steps" parents={[{ label: 'Help', link: { to: '/help' } }]}>
      <ol className={styles['steps']}>
        <Step number={1} title="You are signed in" isDone>
          <p>
            As {me?.user.name}. <Link to="/settings/tokens">Settings</Link> has your tokens, for the command
            line and for CI.
          </p>
        </Step>
        <Step
          number={2}
          title={
            ready.length > 0
              ? `${ready.length} ${ready.length === 1 ? 'phone is' : 'phones are'} ready`
              : 'Connect a phone'
          }
          isDone={ready.length > 0}
        >
          {ready.length > 0 ? (
            <Link to="/devices">Open the fleet</Link>
          ) : me?.user.role !== 'admin' ? (
            <p>
              <AskForPhone />
            </p>
          ) : (
            <>
              {devices.length === 0 && reasons.map((reason) => <p key={reason}>{reason}</p>)}
              <p>
                Enable USB debugging on a phone, connect it and allow debugging on its screen. To see what is
                missing, run this on the machine with the phones:
              </p>
              <Command text="phalanx doctor" />
              <p>Without a phone, start the service with simulated ones:</p>
              <Command text="phalanx start --simulated-phones 2" />
            </>
          )}
          {devices.length > ready.length && (
            <p>
              {devices.length - ready.length} more {devices.length - ready.length === 1 ? 'is' : 'are'} not
              ready. <Link to="/devices">The fleet</Link> shows the reason for each phone.
            </p>
          )}
        </Step>
        <Step
          number={3}
          title={first === undefined ? 'Write an automation' : 'You have a project'}
          isDone={first !== undefined}
        >
          {first === undefined ? (
            <CreateSample />
          ) : (
            <Link to="/projects/$projectId" params={{ projectId: first.id }}>
              Open {first.name}
            </Link>
          )}
        </Step>
        <Step number={4} title={hasRun ? 'Something has run' : 'Run it'} isDone={hasRun}>
          {hasRun ? (
            <p>
              <Link to="/runs">Open the runs</Link>, or go on with{' '}
              <Link to="/help/$" params={{ _splat: 'tutorial' }}>
                the tutorial
              </Link>
              : an automation that meets an unknown screen, its repair, and a run each night.
            </p>
          ) : (
            <p>Open the project, choose phones, and press Run. The log appears below the code.</p>
          )}
        </Step>
      </ol>
    </Page>
  );
}

interface StepProps {
  number: number;
  title: string;
  isDone: boolean;
  children: ReactNode;
}

const Step = ({ number, title, isDone, children }: StepProps) => (
  <li className={styles['step']}>
    <span className={styles['number']} data-done={isDone} aria-hidden="true">
      {isDone ? <Icon name="check" size={14} /> : number}
    </span>
    <div className={styles['body']}>
      <h2>
        {title}
        {isDone && <span className="visually-hidden"> (done)</span>}
      </h2>
      {children}
    </div>
  </li>
);

const Command = ({ text }: { text: string }) => (
  <div className={styles['command']}>
    <code>{text}</code>
    <CopyButton text={text} label="Copy the command" />
  </div>
);

function CreateSample() {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const missing = useMissingScope('edit');
  const [isBusy, setBusy] = useState(false);
  const create = async (): Promise<void> => {
    setBusy(true);
    try {
      const projectId = await createStarter('First steps');
      await queries.invalidateQueries({ queryKey: ['projects'] });
      await navigate({ to: '/projects/$projectId', params: { projectId } });
    } catch (error) {
      notifyFailure('The project could not be created', error);
      setBusy(false);
    }
  };
  return (
    <>
      <p>An automation is TypeScript. A sample reads what the phone shows and writes it to the log.</p>
      <div className={styles['actions']}>
        <Button look="primary" reason={missing} isBusy={isBusy} onClick={() => void create()}>
          Create the sample
        </Button>
        <Link to="/projects" className={buttonClass('quiet')}>
          All projects
        </Link>
      </div>
    </>
  );
}
