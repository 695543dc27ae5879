import type { LogEntry } from '@phalanx/protocol';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useCallback, useDeferredValue, useEffect, useMemo, useRef, useState, type WheelEvent } from 'react';

import { Button, IconButton } from '../../parts/button.tsx';
import { classNames } from '../../parts/class-names.ts';
import { CopyButton } from '../../parts/copy.tsx';
import { SearchInput } from '../../parts/field.tsx';
import { Icon } from '../../parts/icon.tsx';
import { InlineFailure } from '../../parts/states.tsx';
import { type LogSnapshot, textOfEntry, timeText } from './run-log.tsx';
import styles from './log-view.module.css';

type Level = LogEntry['messageLevel'];
const levels: readonly Level[] = ['log', 'warn', 'error'];
const lineHeight = 20;

interface LogViewProps {
  log: LogSnapshot;
  isLive: boolean;
  /** Whether the log stands beside other content; its lines then wrap by default. */
  isNarrow?: boolean;
  /** Called when the source location of a line is clicked. */
  onOpenLine?: ((path: string, line: number) => void) | undefined;
  /** Time span in epoch ms. Its lines are marked, and scrolled into view when the span changes. */
  span?: LogSpan | undefined;
  /** Called when the time of a line is clicked. */
  onPick?: ((timestamp: number) => void) | undefined;
}

interface LogSpan {
  readonly from: number;
  readonly to: number;
}

export function LogView({ log, isLive, isNarrow = false, onOpenLine, span, onPick }: LogViewProps) {
  const [hidden, setHidden] = useState<ReadonlySet<Level>>(new Set());
  const [search, setSearch] = useState('');
  const [isWrapped, setWrapped] = useState(() => isNarrow || window.innerWidth < 720);
  const [hasGaps, setGaps] = useState(false);
  const shown = useMemo(
    () => (hidden.size === 0 ? log.entries : log.entries.filter((entry) => !hidden.has(entry.messageLevel))),
    [log.entries, hidden],
  );
  const counts = useMemo(() => countLevels(log.entries), [log.entries]);
  const found = useFound(shown, useDeferredValue(search));
  const toggle = (level: Level): void =>
    setHidden((known) => {
      const next = new Set(known);
      if (!next.delete(level)) next.add(level);
      return next;
    });
  return (
    <section className={styles['view']} aria-label="Log">
      <div className={styles['bar']}>
        <h2>Log</h2>
        <div className={styles['levels']} role="group" aria-label="Levels">
          {levels.map((level) => (
            <button
              key={level}
              type="button"
              className={styles['level']}
              aria-pressed={!hidden.has(level)}
              onClick={() => toggle(level)}
            >
              {level} <b>{counts[level]}</b>
            </button>
          ))}
        </div>
        <div className={styles['find']}>
          <SearchInput
            label="Search the log"
            value={search}
            onChange={setSearch}
            onKeyUp={(event) => event.key === 'Enter' && found.step(event.shiftKey ? -1 : 1)}
          />
          {search !== '' && (
            <>
              <span className={styles['count']} role="status" aria-live={isLive ? 'off' : 'polite'}>
                {found.count === 0 ? 'not found' : `${found.at + 1} of ${found.count}`}
              </span>
              <IconButton label="Previous" onClick={() => found.step(-1)}>
                <Icon name="left" size={14} />
              </IconButton>
              <IconButton label="Next" onClick={() => found.step(1)}>
                <Icon name="right" size={14} />
              </IconButton>
            </>
          )}
        </div>
        <div className={styles['tools']}>
          <IconButton label="Time between lines" aria-pressed={hasGaps} onClick={() => setGaps(!hasGaps)}>
            <Icon name="clock" />
          </IconButton>
          <IconButton label={isWrapped ? 'Unwrap' : 'Wrap'} onClick={() => setWrapped(!isWrapped)}>
            <Icon name="wrap" />
          </IconButton>
          <CopyButton label="Copy the log" text={shown.map(textOfEntry).join('\n')} />
        </div>
      </div>
      {log.error !== null && <InlineFailure error={log.error} />}
      {!log.isLoaded && log.entries.length > 0 && !isLive && (
        <p className={styles['note']}>This is the end of the log. Loading the earlier lines…</p>
      )}
      {log.isLoaded && (log.dropped > 0 || log.isTruncated) && (
        <p className={styles['note']}>
          {log.dropped > 0
            ? `Showing the last ${log.entries.length.toLocaleString('en')} lines. The service has ${log.dropped.toLocaleString('en')} earlier ones.`
            : 'This log was too long to store in full. Its beginning and end are shown.'}
        </p>
      )}
      {shown.length === 0 ? (
        <p className={styles['empty']}>{emptyText(log, isLive)}</p>
      ) : (
        <Lines
          key={isWrapped ? 'wrapped' : 'plain'}
          {...{ shown, isWrapped, hasGaps, isLive, onOpenLine, span, onPick }}
          found={found.index}
        />
      )}
    </section>
  );
}

function emptyText(log: LogSnapshot, isLive: boolean): string {
  if (!log.isLoaded) return 'Reading…';
  if (log.entries.length > 0) return 'No lines at these levels.';
  return isLive ? 'No lines yet.' : 'No lines.';
}

function countLevels(entries: readonly LogEntry[]): Record<Level, number> {
  const counts = { log: 0, warn: 0, error: 0 };
  for (const { messageLevel } of entries) counts[messageLevel] += 1;
  return counts;
}

/** Lines that contain the text, and the current match. */
function useFound(shown: readonly LogEntry[], search: string) {
  const [at, setAt] = useState(0);
  const indexes = useMemo(() => {
    const text = search.toLowerCase();
    if (text === '') return [];
    return shown.flatMap(({ message }, index) => (message.toLowerCase().includes(text) ? [index] : []));
  }, [shown, search]);
  const count = indexes.length;
  const current = Math.min(at, Math.max(0, count - 1));
  const step = (by: number): void => setAt(count === 0 ? 0 : (current + by + count) % count);
  return { count, at: current, index: indexes[current] ?? -1, step };
}

interface LinesProps {
  shown: readonly LogEntry[];
  isWrapped: boolean;
  /** Whether lines show the time since the line above instead of their own time. */
  hasGaps: boolean;
  isLive: boolean;
  found: number;
  onOpenLine: LogViewProps['onOpenLine'];
  span: LogViewProps['span'];
  onPick: LogViewProps['onPick'];
}

function Lines({ shown, isWrapped, hasGaps, isLive, found, onOpenLine, span, onPick }: LinesProps) {
  const scroll = useRef<HTMLDivElement>(null);
  const scrolledTo = useRef(0);
  const latest = useRef(shown);
  useEffect(() => {
    latest.current = shown;
  });
  const [pausedAt, setPausedAt] = useState<number>();
  const rows = useVirtualizer({
    count: shown.length,
    getScrollElement: () => scroll.current,
    estimateSize: (index) => lineHeight * linesOf(shown[index]),
    getItemKey: (index) => shown[index]?.id ?? index,
    overscan: 20,
  });
  const isFollowing = pausedAt === undefined && found < 0;
  const [spanFrom, spanTo] = [span?.from ?? Infinity, span?.to ?? 0];
  const isInSpan = ({ timestamp }: LogEntry): boolean => timestamp >= spanFrom && timestamp <= spanTo;
  const isLoaded = shown.length > 0;
  useEffect(() => {
    if (!isLoaded || spanFrom === Infinity) return;
    const lines = latest.current;
    const first = lines.findIndex(({ timestamp }) => timestamp >= spanFrom);
    if (first < 0 || first === lines.length - 1) {
      setPausedAt(undefined);
      rows.scrollToEnd();
    } else {
      setPausedAt(lines.length);
      rows.scrollToIndex(first, { align: 'center' });
    }
  }, [rows, isLoaded, spanFrom]);
  useEffect(() => {
    if (isFollowing) rows.scrollToEnd();
  }, [rows, isFollowing, shown]);
  useEffect(() => {
    if (found >= 0) rows.scrollToIndex(found, { align: 'center' });
  }, [rows, found]);
  const resume = useCallback(() => setPausedAt(undefined), []);
  const onScroll = (): void => {
    const element = scroll.current;
    if (element === null) return;
    const isUp = element.scrollTop < scrolledTo.current;
    scrolledTo.current = element.scrollTop;
    const isAtEnd = element.scrollHeight - element.scrollTop - element.clientHeight < 2 * lineHeight;
    if (isAtEnd) resume();
    // New lines also move the end away from the scroll position, so only an upward scroll is a reader's.
    else if (isUp) setPausedAt((known) => known ?? shown.length);
  };
  // While lines come fast, the next one moves the end before the scroll of a wheel is seen.
  const onWheel = ({ deltaY }: WheelEvent): void => {
    if (deltaY < 0 && (scroll.current?.scrollTop ?? 0) > 0) setPausedAt((known) => known ?? shown.length);
  };
  const newer = pausedAt === undefined ? 0 : Math.max(0, shown.length - pausedAt);
  return (
    <div className={styles['frame']}>
      <div
        ref={scroll}
        className={classNames(styles['scroll'], isWrapped && styles['wrapped'])}
        onScroll={onScroll}
        onWheel={onWheel}
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls
        tabIndex={0}
        role="log"
        aria-live="off"
        aria-label="Lines"
        onKeyDown={(event) => event.key === 'End' && resume()}
      >
        <div className={styles['virtual']} style={{ height: rows.getTotalSize() }}>
          {rows.getVirtualItems().map(({ index, start, key }) => {
            const entry = shown[index];
            return (
              entry !== undefined && (
                <div
                  key={key}
                  ref={isWrapped ? rows.measureElement : null}
                  data-index={index}
                  className={styles['line']}
                  data-level={entry.messageLevel}
                  data-found={index === found}
                  data-in-span={isInSpan(entry)}
                  style={{ transform: `translateY(${start}px)` }}
                >
                  <Line
                    entry={entry}
                    time={timeText(entry, hasGaps ? shown[index - 1] : undefined)}
                    onOpenLine={onOpenLine}
                    onPick={onPick}
                  />
                </div>
              )
            );
          })}
        </div>
      </div>
      {!isFollowing && isLive && (
        <Button look="primary" className={styles['paused']} onClick={resume}>
          Paused{newer > 0 ? ` · ${newer.toLocaleString()} new` : ''} · Resume
        </Button>
      )}
    </div>
  );
}

const linesOf = (entry: LogEntry | undefined): number => entry?.message.split('\n').length ?? 1;

function Line({
  entry,
  time,
  onOpenLine,
  onPick,
}: { entry: LogEntry; time: string } & Pick<LogViewProps, 'onOpenLine' | 'onPick'>) {
  const { timestamp, path, lineNumber, message } = entry;
  const place = lineNumber === 0 ? '' : `${path ?? ''}:${lineNumber}`;
  return (
    <>
      <span className={styles['time']}>
        {onPick === undefined ? (
          time
        ) : (
          <button type="button" tabIndex={-1} title="Show the step" onClick={() => onPick(timestamp)}>
            {time}
          </button>
        )}
      </span>
      <span className={styles['place']}>
        {onOpenLine !== undefined && path !== null && lineNumber > 0 ? (
          <button type="button" onClick={() => onOpenLine(path, lineNumber)}>
            {place}
          </button>
        ) : (
          place
        )}
      </span>
      <span className={styles['message']}>{message}</span>
    </>
  );
}
