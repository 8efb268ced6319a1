// Lists the segments that a run trains in any of its phases.
import { trainedPrefix } from '../../model/layout/flat_params.ts'
import type { Phase } from './phase.ts'
import { segmentFactors, type TrainedLayout } from './trained_segments.ts'

/** Which segments the policy of a run ever trains, [segments]: in any of its phases, or in
 * `before`, what it had trained when these phases were others. What is never trained has no
 * gradients, no moments and no copy as a reference. */
export const trainedSegments = (
  layout: TrainedLayout,
  phases: readonly Phase[],
  before: readonly boolean[] = [],
): readonly boolean[] => {
  const trained = phases.map((phase) => {
    if (phase.kind === 'reward_model') return []
    const layer = phase.kind === 'sft' ? layout.numBlocks : phase.target_layer
    const factors = phase.kind === 'sft' ? undefined : segmentFactors(layout, phase)
    const { segments } = trainedPrefix(layout, layer)
    return layout.segment_ends.map((_, i) => (factors ? factors[i] !== 0 : i < segments))
  })
  return layout.segment_ends.map((_, i) => [before, ...trained].some((of) => of[i]))
}
