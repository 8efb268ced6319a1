// Says that the page shows a past run.
import { ArrowLeft, History } from 'lucide-react'
import { useStore } from 'zustand'
import { logKindWords } from '../../jobs/logs/base/log_kinds.ts'
import { runName } from '../../record/run/names.ts'
import type { RunSource } from '../../record/run/record.ts'
import { CutName } from '../kit/CutName.tsx'
import { formatSteps } from '../kit/format.ts'
import { closePast, type Opened, openedStore, useOpenedEntry } from '../open/opened_run.ts'
import { changedText, endText, whenText } from '../shown/run_words.ts'
import { CheckpointList } from './checkpoints/CheckpointList.tsx'

const selectOpened = ({ opened }: { readonly opened: Opened | undefined }) => opened

/** A run that was imported: what its log says, and what was left out of it. */
function ImportedRun(props: {
  readonly name: string
  readonly source: RunSource
  readonly step: number
}) {
  const { name, source, step } = props
  return (
    <section className="card past-run" aria-label="Imported run" data-testid="past-run">
      <History className="icon" aria-hidden="true" />
      <p role="status">
        <strong>
          Imported run “<CutName name={name} />
          ”, read-only.
        </strong>{' '}
        <span className="soft">
          From {source.file} ({logKindWords(source.kind)}), {formatSteps(step)}. All numbers below
          are those of the log; what it does not hold is not shown. The controls stay those of the
          current run. {source.remarks.join(' ')}
        </span>
      </p>
      <BackToRun />
    </section>
  )
}

const BackToRun = () => (
  <div className="past-run-actions">
    <button type="button" className="primary" data-testid="back-to-run" onClick={closePast}>
      <ArrowLeft className="icon" aria-hidden="true" /> Back to the current run
    </button>
  </div>
)

/** Nothing while the current run is shown. */
export function PastRun() {
  const opened = useStore(openedStore, selectOpened)
  const entry = useOpenedEntry()
  if (!opened || !entry) return null
  const { name } = runName(entry)
  const { source } = entry.header
  if (source) return <ImportedRun name={name} source={source} step={entry.header.step} />
  return (
    <section className="card past-run" aria-label="Past run" data-testid="past-run">
      <History className="icon" aria-hidden="true" />
      <p role="status">
        <strong>
          Past run “<CutName name={name} />” opened, read-only.
        </strong>{' '}
        <span className="soft">
          {opened.isElsewhere
            ? 'It continues in another tab of this browser, and only there. This page shows what was written down when you opened it. '
            : ''}
          Begun {whenText(entry.header.started_at, Date.now())}, {endText(entry.header)}. All
          numbers and settings shown are its own; Train, Copy link and the other controls stay those
          of the current run.
          {changedText(entry.header)
            .map(([label, values]) => ` ${label}: ${values}.`)
            .join('')}
          {opened.unreadable > 0
            ? ` ${opened.unreadable} of its kept samples and observations could not be read.`
            : ''}
        </span>
      </p>
      <BackToRun />
      {opened.isElsewhere ? null : <CheckpointList entry={entry} />}
    </section>
  )
}
