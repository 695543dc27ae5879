import { proposeSelectors } from '@phalanx/automation/selectors';
import { ServiceError } from '@phalanx/client/service-errors';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';

import { useMissingScope } from '../../api/me.ts';
import { deviceName } from '../../fleet/devices/device.tsx';
import { Button, buttonClass } from '../../parts/button.tsx';
import { copyText } from '../../parts/copy.tsx';
import { useKeys } from '../../parts/keys.tsx';
import { notify } from '../../parts/notices.tsx';
import { Page } from '../../parts/page.tsx';
import { Empty, Failure, Loading } from '../../parts/states.tsx';
import { RemovalButton } from '../../parts/removal-button.tsx';
import { Moment } from '../../parts/time.tsx';
import { projectsQuery } from '../../code/projects/project.tsx';
import { placeOfStack } from '../../runs/runs/stack.tsx';
import { Inspector } from '../../fleet/screens/inspector.tsx';
import { RecordReplay } from '../replays/record-replay.tsx';
import { ActionMarks, Actions, Filmstrip } from './record-screens.tsx';
import { localAddress } from '../../api/call.ts';
import { treeQuery, type RecordPage, type ReviewRecord, RecordStatusMark, typeWords } from './record.tsx';
import type { RecordFiltersSearch } from './records-search.ts';
import styles from './review.module.css';
import { ReviewTabs } from './review-tabs.tsx';
import { RecordFilters } from './record-filters.tsx';
import { useReviewQueue } from './use-review-queue.ts';

export function ReviewPage() {
  const queue = useReviewQueue();
  const { data, error, refetch } = queue.query;
  const isGone = error instanceof ServiceError && error.code === 'record_not_found';
  return (
    <Page
      title="Review"
      part="Records"
      tabs={<ReviewTabs />}
      aside={data !== undefined && <Position page={data} />}
      bar={<RecordFilters filters={queue.filters} onChange={queue.filter} />}
    >
      {data === undefined && error === null && <Loading rows={12} />}
      {isGone && (
        <Empty title="Record not found" action={<Link to="/records">Review pending records</Link>}>
          It was deleted, or you have no access to it.
        </Empty>
      )}
      {data === undefined && error !== null && !isGone && (
        <Failure error={error} onRetry={() => void refetch()} />
      )}
      {data !== undefined && !isGone && queue.record === undefined && <NothingToDo filters={queue.filters} />}
      {data !== undefined && !isGone && queue.record !== undefined && (
        <Review record={queue.record} page={data} queue={queue} shown={queue.screen} />
      )}
    </Page>
  );
}

const Position = ({ page }: { page: RecordPage }) => (
  <span className={styles['position']} role="status">
    {page.result === null ? (
      'nothing'
    ) : (
      <>
        <b>{page.currentPage.toLocaleString()}</b> of {page.total.toLocaleString()}
      </>
    )}
  </span>
);

const NothingToDo = ({ filters }: { filters: RecordFiltersSearch }) =>
  Object.keys(filters).length === 0 ? (
    <Empty
      title="Nothing to review"
      action={
        <Link to="/records" search={{ status: 'any' }} className={buttonClass()}>
          Show all records
        </Link>
      }
    >
      When an automation meets an unknown screen, crashes or times out, its last screens appear here.
    </Empty>
  ) : (
    <Empty
      title="No records match"
      action={
        <Link to="/records" className={buttonClass()}>
          Show pending records
        </Link>
      }
    />
  );

interface ReviewProps {
  record: ReviewRecord;
  page: RecordPage;
  queue: ReturnType<typeof useReviewQueue>;
}

function Review({ record, page, queue, shown }: ReviewProps & { shown: number | undefined }) {
  const navigate = useNavigate();
  const last = record.screens.length - 1;
  const chosen = Math.min(last, (shown ?? record.screens.length) - 1);
  const setChosen = (index: number): void => queue.showScreen(Math.max(0, Math.min(last, index)) + 1);
  const screen = record.screens[chosen];
  const { data: tree, error } = useQuery(treeQuery(screen));
  const missing = useMissingScope('review');
  const { data: projects = [] } = useQuery(projectsQuery);
  const openCode = (): void => {
    const place = placeOfStack(record.error?.stack) ?? {};
    const projectId = record.automation_id;
    if (projects.some(({ id }) => id === projectId))
      void navigate({ to: '/projects/$projectId', params: { projectId }, search: place });
    else void navigate({ to: '/runs/$runId', params: { runId: record.run_id } });
  };
  const copySelector = (): void => {
    const label = tree?.rows.find(({ node }) => node.text !== undefined && node.text !== '');
    const code = label === undefined ? undefined : proposeSelectors(label.node)[0]?.code;
    if (code !== undefined) void copyText(code).then(() => notify('Copied', code));
  };
  const onceEach =
    (action: () => void) =>
    ({ repeat }: KeyboardEvent): void => {
      if (!repeat) action();
    };
  useKeys({
    j: onceEach(() => void queue.walk('older')),
    k: onceEach(() => void queue.walk('newer')),
    h: () => setChosen(chosen - 1),
    l: () => setChosen(chosen + 1),
    e: onceEach(() => missing === undefined && void queue.mark('solved')),
    s: onceEach(() => missing === undefined && void queue.mark('skipped')),
    b: onceEach(() => missing === undefined && void queue.save()),
    c: onceEach(copySelector),
    o: onceEach(openCode),
  });
  const { originalWidth = 0, originalHeight = 0 } = screen?.screenshot ?? {};
  const bounds = tree?.root.boundsInScreen;
  const size = {
    width: originalWidth || bounds?.right || 1080,
    height: originalHeight || bounds?.bottom || 2400,
  };
  return (
    <div className={styles['desk']}>
      <Facts record={record} screen={screen} onCode={openCode} />
      {record.screens.length > 1 && (
        <Filmstrip screens={record.screens} chosen={chosen} onChoose={setChosen} />
      )}
      {screen !== undefined && screen.actions.length > 0 && <Actions actions={screen.actions} />}
      {projects.some(({ id }) => id === record.automation_id) && record.screens.length > 0 && (
        <RecordReplay key={record.out_of_steps_id} record={record} />
      )}
      <div className={styles['main']}>
        {screen === undefined ? (
          <Empty title="The record has no screen">It ended before the first screen was stored.</Empty>
        ) : (
          <Inspector
            subject={record.out_of_steps_id}
            tree={tree}
            picture={
              screen.screenshot.screenshotUrl === null
                ? undefined
                : localAddress(screen.screenshot.screenshotUrl)
            }
            {...size}
            marks={<ActionMarks actions={screen.actions} {...size} />}
            pictureNote="There is no picture of this screen."
            treeNote={
              screen.uiUrl === null ? (
                <p>The tree of this screen could not be captured.</p>
              ) : error === null ? (
                <Loading />
              ) : (
                <p>{error.message}</p>
              )
            }
          />
        )}
      </div>
      <Verdicts record={record} page={page} queue={queue} missing={missing} />
    </div>
  );
}

const appText = ({ package: name, version, activity, language }: NonNullable<ReviewRecord['app']>): string =>
  [
    `${name}${version === null ? '' : ` ${version}`}`,
    activity?.replace(`${name}.`, ''),
    language !== null && `in ${language}`,
  ]
    .filter(Boolean)
    .join(' · ');

function Facts({
  record,
  screen,
  onCode,
}: {
  record: ReviewRecord;
  screen: ReviewRecord['screens'][number] | undefined;
  onCode: () => void;
}) {
  return (
    <div className={styles['facts']}>
      <RecordStatusMark status={record.status} />
      <b>{record.automation_name}</b>
      <span>{typeWords[record.type]}</span>
      {record.type === 'debug' && <span className={styles['quiet']}>tag {record.tag}</span>}
      {screen !== undefined && (
        <span className={styles['quiet']}>
          {screen.screenState}
          {screen.nextStage !== '' && ` on the way to ${screen.nextStage}, ${screen.maxSteps} steps left`}
        </span>
      )}
      <span className={styles['quiet']}>
        {deviceName({ ...record.device_info, name: '', serial: '' })} · Android{' '}
        {record.device_info.android_version}
      </span>
      {record.app !== null && <span className={styles['quiet']}>{appText(record.app)}</span>}
      <span className={styles['quiet']}>
        <Moment at={Date.parse(record.added)} />
      </span>
      {record.partial && <span className={styles['quiet']}>partial</span>}
      {record.saved && <span className={styles['quiet']}>saved</span>}
      <Link to="/runs/$runId" params={{ runId: record.run_id }}>
        Open run
      </Link>
      <button type="button" className={styles['link']} onClick={onCode}>
        Open code
      </button>
      {record.error !== null && <span className={styles['error']}>{record.error.message}</span>}
    </div>
  );
}

function Verdicts({ record, page, queue, missing }: ReviewProps & { missing: string | undefined }) {
  const isMarked =
    record.status === 'pending' ? undefined : `It is already ${record.status}, which is final.`;
  return (
    <div className={styles['verdicts']}>
      <Button look="primary" reason={missing ?? isMarked} onClick={() => void queue.mark('solved')}>
        Solved <kbd>e</kbd>
      </Button>
      <Button reason={missing ?? isMarked} onClick={() => void queue.mark('skipped')}>
        Skip <kbd>s</kbd>
      </Button>
      <Button look="quiet" reason={missing} aria-pressed={record.saved} onClick={() => void queue.save()}>
        {record.saved ? 'Saved' : 'Save'} <kbd>b</kbd>
      </Button>
      <RemovalButton name="this record" reason={missing} onRemove={queue.remove}>
        <p>
          Its trees and pictures are deleted, and the copy of its screen that replays use. This cannot be
          undone.
        </p>
      </RemovalButton>
      <span className={styles['space']}>{missing ?? isMarked}</span>
      <Button
        look="quiet"
        reason={page.hasPrev ? undefined : 'This is the newest record.'}
        onClick={() => void queue.walk('newer')}
      >
        Newer <kbd>k</kbd>
      </Button>
      <Button
        look="quiet"
        reason={page.hasNext ? undefined : 'This is the oldest record.'}
        onClick={() => void queue.walk('older')}
      >
        Older <kbd>j</kbd>
      </Button>
    </div>
  );
}
