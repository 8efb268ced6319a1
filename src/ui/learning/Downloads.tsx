// Offers the metrics of the run as files.
import { Download } from 'lucide-react'
import { thinnedOf, thinnedWords } from '../../host/columns/thinning.ts'
import type { LabState } from '../../page/state/store.ts'
import { saveMetrics } from '../open/files.ts'
import { usePresent } from '../shown/shown.ts'

const KINDS = [
  { extension: 'jsonl', says: 'a line per step' },
  { extension: 'csv', says: 'a column per metric' },
] as const

const selectHasSteps = (state: LabState) => state.series.size > 0

const selectThinned = (state: LabState) => thinnedWords(thinnedOf(state.series.values()))

/** Nothing before the first step. */
export function Downloads() {
  const thinned = usePresent(selectThinned)
  if (!usePresent(selectHasSteps)) return null
  return (
    <div className="downloads">
      <span className="soft">Metrics</span>
      {KINDS.map(({ extension, says }) => (
        <button
          key={extension}
          type="button"
          data-testid={`download-${extension}`}
          title={`Download every metric of this run: ${says}`}
          onClick={() => void saveMetrics(extension)}
        >
          <Download className="icon" aria-hidden="true" />
          {extension.toUpperCase()}
        </button>
      ))}
      {thinned === '' ? null : <span className="soft">{thinned}</span>}
    </div>
  )
}
