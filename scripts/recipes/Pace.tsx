// How far the run is, as a share of its steps.
import { formatShare } from '../base/format.ts'
import type { PanelProps } from '../base/page/Panels.tsx'
import { plannedSteps } from '../base/run.ts'
import { shownStore } from '../base/shown.ts'

export function Pace({ shown }: PanelProps) {
  const share = shown.step / plannedSteps(shownStore.getState())
  return <p data-testid="pace">{formatShare(share)} of all steps</p>
}
