// Says that the page shows a past run, in a line; what else is to be known of it is behind it.
import { ArrowLeft, History } from 'lucide-react'
import type { ReactNode } from 'react'
import { useStore } from 'zustand'
import { logKindWords } from '../../jobs/logs/base/log_kinds.ts'
import type { RunEntry } from '../../page/runs/library/library_store.ts'
import type { LabState } from '../../page/state/store.ts'
import type { RunSource } from '../../record/run/record.ts'
import { formatSteps } from '../kit/format.ts'
import { closePast, type Opened, openedStore, useOpenedEntry } from '../open/opened_run.ts'
import { useCalledName } from '../shown/names/called.ts'
import { fromPreset } from '../shown/names/from_preset.ts'
import { selectIsBusy, useLab } from '../shown/run.ts'
import { changedText, endText, whenText } from '../shown/run_words.ts'
import { CheckpointList } from './checkpoints/CheckpointList.tsx'
import { takeLostFocus } from './lost_focus.ts'

const selectOpened = ({ opened }: { readonly opened: Opened | undefined }) => opened

/** A line that says which run is shown, and behind it what else is to be known. */
function About(props: {
  readonly says: string
  readonly more: string
  readonly children: ReactNode
}) {
  return (
    <details className="past-about" data-testid="past-about">
      <summary>
        <History className="icon" aria-hidden="true" />
        <span role="status">
          <strong>{props.says}</strong> <span className="soft">{props.more}</span>
        </span>
      </summary>
      <p>{props.children}</p>
    </details>
  )
}

/** A run that was imported: what its log says, and what was left out of it. */
function ImportedRun(props: { readonly entry: RunEntry; readonly source: RunSource }) {
  const { entry, source } = props
  const name = useCalledName(entry)
  return (
    <section className="card past-run" aria-label="Imported run" data-testid="past-run">
      <About
        says={`Imported run “${name}”, read-only`}
        more={`from ${source.file}, ${formatSteps(entry.header.step)}`}
      >
        From {source.file} ({logKindWords(source.kind)}). All numbers below are those of the log;
        what it does not hold is not shown. Nothing is trained while it is shown, and Copy link
        copies the link of the current run. {source.remarks.join(' ')}
      </About>
      <BackToRun key={entry.id} />
    </section>
  )
}

const selectHasSteps = ({ step }: LabState) => step > 0

function BackToRun() {
  const hasSteps = useLab(selectHasSteps)
  return (
    <div className="past-run-actions">
      <button ref={takeLostFocus} type="button" data-testid="back-to-run" onClick={closePast}>
        <ArrowLeft className="icon" aria-hidden="true" />{' '}
        {hasSteps ? 'Back to the current run' : 'Back to a new run'}
      </button>
    </div>
  )
}

const BUSY = 'Pause, Step and Reset are of the run in progress.'
const AT_REST = 'To train it again, use its settings.'

/** A run of this lab: when it was trained, and what was changed in it. */
function TrainedRun(props: { readonly entry: RunEntry; readonly opened: Opened }) {
  const { entry, opened } = props
  const name = useCalledName(entry)
  const isBusy = useLab(selectIsBusy)
  const from = fromPreset(entry, '')
  return (
    <section className="card past-run" aria-label="Past run" data-testid="past-run">
      <About
        says={`Past run “${name}”, read-only:`}
        more={
          opened.isElsewhere
            ? 'it continues in another tab of this browser, and only there'
            : `${from === '' ? '' : `${from}, `}begun ${whenText(entry.header.started_at, Date.now())}, ${endText(entry.header)}. ${isBusy ? BUSY : AT_REST}`
        }
      >
        {opened.isElsewhere ? 'This page shows what was written down when you opened it. ' : ''}
        All numbers and settings shown are its own, and Copy link copies its link.{' '}
        {changedText(entry.header)
          .map(([label, values]) => ` ${label}: ${values}.`)
          .join('')}
        {opened.unreadable > 0
          ? ` ${opened.unreadable} of its kept samples and observations could not be read.`
          : ''}
      </About>
      {opened.isElsewhere ? null : <CheckpointList entry={entry} />}
      <BackToRun key={entry.id} />
    </section>
  )
}

/** Nothing while the current run is shown. */
export function PastRun() {
  const opened = useStore(openedStore, selectOpened)
  const entry = useOpenedEntry()
  if (!opened || !entry) return null
  const { source } = entry.header
  return source ? <ImportedRun {...{ entry, source }} /> : <TrainedRun {...{ entry, opened }} />
}
