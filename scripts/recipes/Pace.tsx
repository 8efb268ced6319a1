// Shows how far the run is, as a share of its steps.
import { formatShare } from '../kit/format.ts'
import type { PanelProps } from '../part/Panels.tsx'
import { plannedSteps } from '../shown/run.ts'
import { shownStore } from '../shown/shown.ts'

export function Pace({ shown }: PanelProps) {
  const share = shown.step / plannedSteps(shownStore.getState())
  return <p data-testid="pace">{formatShare(share)} of all steps</p>
}
