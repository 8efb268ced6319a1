// Draws the entropy of the final policy over the run, phases shaded (BuPO, arXiv 2512.19673, figure
// 7), and that of every layer as it is read.
import { useCallback } from 'react'
import type { LabState } from '../../../page/state/store.ts'
import { formatNats } from '../../kit/format.ts'
import { Keys } from '../../plot/base/Keys.tsx'
import { BATCH, READ } from '../../plot/reads.ts'
import { layerEntropy } from '../../shown/metrics.ts'
import { type Overlay, useOverlays } from '../../shown/overlays.ts'
import { useSlowFrame } from '../../shown/readout.ts'
import { seriesOf, useLastLayer } from '../../shown/run.ts'
import { useAtStep, useShown } from '../../shown/shown.ts'
import { uiStore } from '../../shown/store.ts'
import { entropySays } from '../base/says.ts'
import { StepChart, type StepLine } from '../charts/StepChart.tsx'
import { Figure } from '../frame/Figure.tsx'
import { useVisible } from '../frame/use_figure.ts'
import { LayerEntropies } from './LayerEntropies.tsx'

const ZERO: readonly number[] = [0]
const selectHasSteps = ({ series, step }: LabState) => step > 0 && series.has('layer/entropy/0')

/** The metric of the shown run before those of the runs behind it. */
function useLines(metric: string, overlays: readonly Overlay[]): () => StepLine[] {
  return useCallback((): StepLine[] => {
    const own = seriesOf(metric)
    const others = overlays.flatMap((overlay) => {
      const columns = overlay.series(metric)
      const { id, label, color, dash } = overlay
      return columns ? [{ key: id, label, color, dash, columns }] : []
    })
    const shown = { key: 'own', label: 'final policy', color: '--ink', width: 2 }
    return own ? [...others, { ...shown, columns: own }] : others
  }, [metric, overlays])
}

const SAYS_MS = 1000

/** The course so far; columns grow without rendering. */
function Course({ metric }: { readonly metric: string }) {
  useSlowFrame(SAYS_MS)
  const columns = seriesOf(metric)
  // A text is translated where an element has it.
  return <>{columns && entropySays(columns, uiStore.getState().atStep)}</>
}

export function EntropyFigure() {
  const { ref, isVisible } = useVisible()
  const layers = useLastLayer()
  const hasSteps = useShown(selectHasSteps)
  const atStep = useAtStep()
  const metric = layerEntropy(layers)
  const overlays = useOverlays()
  const lines = useLines(metric, overlays)
  const words = hasSteps
    ? atStep === undefined
      ? 'All steps so far.'
      : `All steps; the line marks step ${atStep}.`
    : 'Nothing was measured yet.'
  return (
    <Figure
      id="final-entropy"
      title="Entropy of the final policy"
      how={READ.final}
      whose={BATCH}
      note="How undecided the model’s own policy is on the tokens it samples, with each phase marked: warm starts are shaded as sand, phases that train an inner layer as green. It is a mean over tokens that the policy chose itself, so a few more confident tokens per response, such as an earlier end, move it although the policy is the same."
      state={{
        ref,
        isVisible,
        seen: undefined,
        isEmpty: !hasSteps,
        words,
        count: undefined,
        cost: undefined,
      }}
      says={hasSteps ? <Course metric={metric} /> : undefined}
    >
      {hasSteps ? (
        <>
          <StepChart
            id="final-entropy"
            title="Final policy, nats"
            isVisible={isVisible}
            lines={lines}
            must={ZERO}
            formatValue={formatNats}
          >
            {overlays.length === 0 ? null : (
              <Keys keys={[{ label: 'this run', color: '--ink', width: 2 }, ...overlays]} />
            )}
          </StepChart>
          <LayerEntropies isVisible={isVisible} />
        </>
      ) : null}
    </Figure>
  )
}
