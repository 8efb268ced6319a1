// Draws the entropy of every layer over the run, read in the way that is chosen: raw, or in one
// that is not the paper’s, which the title names.
import { useEffect, useMemo, useState } from 'react'
import { useStore } from 'zustand'
import { wantObserved } from '../../../page/client/observing.ts'
import { formatNats, formatTick } from '../../kit/format.ts'
import { useNextObserved } from '../../look/next_observed.ts'
import { BATCH, reads } from '../../plot/reads.ts'
import { LinesFigure } from '../../plot/still/LinesFigure.tsx'
import { layerLook } from '../../scales/palette.ts'
import { useSlowFrame } from '../../shown/readout.ts'
import { useIsLiving, useKept } from '../../shown/rested.ts'
import { useLastLayer } from '../../shown/run.ts'
import { useAtStep, useShown } from '../../shown/shown.ts'
import { type UiState, uiStore } from '../../shown/store.ts'
import { ownerOfShown } from '../../touch/owner.ts'
import { READING_NAMES, READINGS, type Reading } from '../../touch/words/reading_words.ts'
import { comparable, hasCourse } from '../base/history.ts'
import {
  layerLines,
  layerSteps,
  layersSay,
  layersTable,
  lensOf,
  measuredSteps,
  readableLines,
  readingTitle,
} from '../base/layer_lines.ts'
import { STATE } from '../charts/colors.ts'
import { MomentChart } from '../charts/MomentChart.tsx'

const ZERO: readonly number[] = [0]
const SAYS_MS = 1000
const selectIsDark = ({ isDark }: UiState) => isDark
const formatStep = (step: number) => `${step}`
const NOTE =
  'Means at the steps that were looked at, of raw states at every step. It misleads: layers have no policy of their own until somebody says how they are read. A lens stays as it was fitted, so the further the run goes from there, the less it is a translator.'

/** Why there is no line. */
function emptyWords(
  reading: Reading,
  next: string | undefined,
  refused: string | undefined,
): string {
  if (refused !== undefined) return `This could not be measured. ${refused}`
  if (next === undefined) return 'This run was not read so while it trained.'
  if (!lensOf(reading)) return `Not measured yet. ${next}`
  return 'Not read yet. While this figure is in view, the lens of the settings is taken, or one is fitted on the rows of the next step that is looked at, which takes that step some time; it is then read at every step that is looked at.'
}

function ReadingChoice(props: {
  readonly reading: Reading
  readonly onChoose: (reading: Reading) => void
}) {
  const { reading, onChoose } = props
  return (
    <div className="touch-choices">
      <label>
        <span className="soft">Every layer, read</span>{' '}
        <select
          data-testid="layer-entropies-reading"
          value={reading}
          onChange={({ target }) => onChoose(target.value as Reading)}
        >
          {READINGS.map((key) => (
            <option key={key} value={key}>
              {READING_NAMES[key]}
            </option>
          ))}
        </select>
      </label>
    </div>
  )
}

function useDrawn(steps: ReturnType<typeof layerSteps>) {
  const isDark = useStore(uiStore, selectIsDark)
  return useMemo(
    () => readableLines(layerLines(steps, (layer, last) => layerLook(layer, last, isDark))),
    [steps, isDark],
  )
}

export function LayerEntropies({ isVisible }: { readonly isVisible: boolean }) {
  const [reading, setReading] = useState<Reading>('raw')
  const isLiving = useIsLiving()
  const next = useNextObserved()
  const atStep = useAtStep()
  const { items } = useKept().observations
  const last = useLastLayer()
  const isOfMetrics = useShown(hasCourse) && reading === 'raw'
  useSlowFrame(SAYS_MS)
  useEffect(() => {
    const lens = lensOf(reading)
    if (!isVisible || !isLiving || isOfMetrics) return
    return wantObserved('layer entropies', {
      groups: ['entropy'],
      ...(lens && { readings: [lens] }),
    })
  }, [isVisible, isLiving, reading, isOfMetrics])
  const steps = isOfMetrics
    ? measuredSteps(last, atStep)
    : layerSteps(comparable(items), reading, atStep)
  const [only] = steps.length === 1 ? steps : []
  const { drawn, above } = useDrawn(steps)
  const refused = items
    .at(-1)
    ?.item.refused?.split('\n')
    .find((line) => line.startsWith(`readings: ${reading}:`))
  return (
    <>
      <ReadingChoice reading={reading} onChoose={setReading} />
      {steps.length === 0 ? (
        <p className="soft" data-testid="layer-entropies-empty">
          {emptyWords(reading, isLiving ? next : undefined, refused)}
        </p>
      ) : (
        <>
          <p className="soft">{reads(READING_NAMES[reading], BATCH)}</p>
          <p className="figure-says" data-testid="layer-entropies-says">
            {layersSay(steps, reading)}
          </p>
          {!only && above ? <p className="soft">{above}</p> : null}
          {only ? (
            <MomentChart
              id="layer-entropies-moment"
              title={`Every layer at step ${only.step}: ${readingTitle(steps, reading)}`}
              last={only.entropies.length - 1}
              lines={[
                { label: READING_NAMES[reading], color: STATE, first: 0, values: only.entropies },
              ]}
              must={ZERO}
            />
          ) : (
            <LinesFigure
              id="layer-entropies"
              title={`Entropy of every layer over the run: ${readingTitle(steps, reading)}`}
              note={NOTE}
              owner={ownerOfShown()}
              unit="step"
              yUnit="nats"
              lines={drawn}
              isShare={false}
              height={220}
              formatX={formatStep}
              formatY={formatTick}
              formatValue={formatNats}
              hasNames
              table={() => layersTable(steps, reading)}
            />
          )}
        </>
      )}
    </>
  )
}
