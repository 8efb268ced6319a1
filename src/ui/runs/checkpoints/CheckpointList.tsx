// Draws the checkpoints of one run: where it can continue from, and files to download.
import { Download, GitBranch, Play, Search, Upload } from 'lucide-react'
import type { RunEntry } from '../../../page/runs/library/library_store.ts'
import { formatBytes, formatCount } from '../../kit/format.ts'
import { useCheckpoints } from '../../look/kept_checkpoints.ts'
import { lookNow } from '../../look/look_now.ts'
import { useWhyBusy } from '../../look/why_busy.ts'
import { WriteWithIt } from '../../open/models/WriteWithIt.tsx'
import { openExport } from '../../open/open_export.ts'
import { openTab } from '../../shown/store.ts'
import { continueRun, download } from './continue_run.ts'

/** Newest first. Nothing where nothing is kept. */
export function CheckpointList({ entry }: { readonly entry: RunEntry }) {
  const entries = useCheckpoints(entry.id, entry.header.status)
  const whyBusy = useWhyBusy()
  const isBusy = whyBusy !== undefined
  if (!entries || entries.length === 0) return null
  const newest = entries[entries.length - 1].step
  const isUnfinished = entry.header.status === 'stopped' || entry.header.status === 'failed'
  return (
    <details className="checkpoint-list" data-testid="checkpoints">
      <summary>
        {entries.length} {entries.length === 1 ? 'checkpoint is' : 'checkpoints are'} kept,{' '}
        {formatBytes(entries.reduce((sum, { bytes }) => sum + bytes, 0))}
      </summary>
      {isBusy ? <p className="soft">{whyBusy}.</p> : null}
      {isUnfinished ? (
        <button
          type="button"
          data-testid="go-on-run"
          disabled={isBusy}
          onClick={() => void continueRun('resume', entry, newest)}
        >
          <Play className="icon" aria-hidden="true" /> Continue this run from step{' '}
          {formatCount(newest)}
        </button>
      ) : null}
      <ul>
        {entries.toReversed().map(({ step, bytes }) => (
          <li key={step} data-testid="checkpoint" data-step={step}>
            <span>
              step {formatCount(step)} <small className="soft">{formatBytes(bytes)}</small>
            </span>
            <button
              type="button"
              data-testid="branch"
              aria-label={`Continue from step ${formatCount(step)} as a new run`}
              disabled={isBusy}
              onClick={() => void continueRun('branch', entry, step)}
            >
              <GitBranch className="icon" aria-hidden="true" /> Continue as a new run
            </button>
            <button
              type="button"
              data-testid="look-inside"
              disabled={isBusy}
              onClick={() => {
                openTab('inside')
                void lookNow(entry.id, { step })
              }}
            >
              <Search className="icon" aria-hidden="true" /> Look inside
            </button>
            <WriteWithIt record={entry.id} step={step} />
            <button
              type="button"
              data-testid="download-checkpoint"
              title="Download the checkpoint"
              onClick={() => void download(entry.id, entry.header.document, step)}
            >
              <Download className="icon" aria-hidden="true" /> Download
            </button>
            <button
              type="button"
              data-testid="export-checkpoint"
              aria-haspopup="dialog"
              onClick={() => openExport({ record: entry.id, step })}
            >
              <Upload className="icon" aria-hidden="true" /> Export …
            </button>
          </li>
        ))}
      </ul>
    </details>
  )
}
