// The metrics of the run as files.
import { Download } from 'lucide-react'
import { metricsCsv, metricsFileName, metricsJsonl } from '../../lab/metrics_file.ts'
import type { LabState } from '../../lab/store.ts'
import { shownExperiment } from '../run.ts'
import { shownStore, useShown } from '../shown.ts'

const KINDS = [
  { extension: 'jsonl', type: 'application/jsonl', write: metricsJsonl, says: 'a line per step' },
  { extension: 'csv', type: 'text/csv', write: metricsCsv, says: 'a column per metric' },
] as const

function download({ extension, type, write }: (typeof KINDS)[number]): void {
  const state = shownStore.getState()
  const url = URL.createObjectURL(new Blob([write(state.series)], { type }))
  const link = document.createElement('a')
  link.href = url
  link.download = metricsFileName(shownExperiment(state), extension)
  link.click()
  // Some browsers read the blob after the click.
  setTimeout(() => URL.revokeObjectURL(url), 10_000)
}

const selectHasSteps = (state: LabState) => state.series.size > 0

/** Nothing before the first step. */
export function Downloads() {
  if (!useShown(selectHasSteps)) return null
  return (
    <div className="downloads">
      <span className="soft">Metrics</span>
      {KINDS.map((kind) => (
        <button
          key={kind.extension}
          type="button"
          data-testid={`download-${kind.extension}`}
          title={`Download every metric of this run: ${kind.says}`}
          onClick={() => download(kind)}
        >
          <Download className="icon" aria-hidden="true" />
          {kind.extension.toUpperCase()}
        </button>
      ))}
    </div>
  )
}
