// Draws one layer × step map of what was kept: which rows it has, and what it says of them.
import { useCallback, useMemo } from 'react'
import { useStore } from 'zustand'
import type { ObservedValues } from '../../../host/protocol/observation.ts'
import { layerName, shortLayerName } from '../../glossary/layer_names.ts'
import { formatNats } from '../../kit/format.ts'
import { t } from '../../kit/translator.ts'
import { HeatMap } from '../../plot/heat/HeatMap.tsx'
import { Readout } from '../../plot/Readout.tsx'
import { stepsOf } from '../../scales/columns.ts'
import { oklchToRgb, type Rgb } from '../../scales/palette.ts'
import { cursorStore, setLayer } from '../../shown/cursor.ts'
import { layerEntropy } from '../../shown/metrics.ts'
import { measuredIn, readStep, valueAt } from '../../shown/readout.ts'
import { seriesOf } from '../../shown/run.ts'
import { shownStore, useShown } from '../../shown/shown.ts'
import { uiStore } from '../../shown/store.ts'
import { useVocabulary } from '../../shown/vocabulary.ts'
import { columnsOfKept, comparable, hasCourse, ofKept } from '../base/history.ts'
import { type ObservedQuantity, observedAt } from '../base/observed.ts'
import { policyEntropies } from '../base/points.ts'

const HEIGHT = 178

/** The lightness of a heat map without its colour, for a row that counts less. */
const GREY_RAMP: readonly Rgb[] = Array.from({ length: 256 }, (_, i) =>
  oklchToRgb([0.9 - (0.65 * i) / 255, 0, 0]),
)

export interface HeatKind {
  readonly id: string
  readonly title: string
  readonly quantity: ObservedQuantity
  /** States have a layer 0, the embedding. */
  readonly first: 0 | 1
  readonly isGrey?: boolean
}

/** The rows of a map; those of raw states end in the final policy. */
export const valuesOf = (
  { quantity }: Pick<HeatKind, 'quantity'>,
  mean: ObservedValues,
): readonly number[] | undefined =>
  quantity === 'ent_layer_raw' ? policyEntropies(mean) : mean[quantity]

const moveTo = (hoverStep: number | undefined) => uiStore.setState({ hoverStep })
/** Rows of states end in the final policy; what a block writes is none. */
const nameOf = ({ first }: HeatKind, layer: number, last: number) =>
  first === 0 ? layerName(layer, last) : `layer ${layer}`
const selectLayer = ({ layer }: { layer: number | undefined }) => layer
const keptSteps = () => shownStore.getState().kept.observations

/** Whether a map is drawn from these. */
const isOfMetrics = ({ quantity }: HeatKind): boolean =>
  quantity === 'ent_layer_raw' && hasCourse(shownStore.getState())

/** The values of a map at the shown step. */
function shownValues(map: HeatKind, lastLayer: number) {
  const { atStep } = uiStore.getState()
  if (isOfMetrics(map)) {
    const found = Array.from({ length: lastLayer + 1 }, (_, layer) =>
      measuredIn([seriesOf(layerEntropy(layer))], atStep),
    )
    const step = found[0]?.step
    return step === undefined ? undefined : { step, values: found.map((one) => one?.value) }
  }
  const seen = observedAt(keptSteps(), atStep, [map.quantity])
  const values = seen && valuesOf(map, seen.item.mean)
  return values && { step: seen.step, values }
}

/** The map at the shown step in words. */
function summary(map: HeatKind, lastLayer: number): string {
  const { title, first } = map
  const shown = shownValues(map, lastLayer)
  return shown
    ? `${title} at step ${shown.step}: from ${formatNats(shown.values[0])} at ${nameOf(map, first, lastLayer)} to ${formatNats(shown.values.at(-1))} at ${nameOf(map, lastLayer, lastLayer)}.`
    : `${title}: nothing was observed.`
}

/** The rows as a map takes them; a kept step that has no numbers of them is a gap. */
const useRows = (map: HeatKind, lastLayer: number) =>
  useMemo(() => {
    const { first } = map
    const rows = Array.from({ length: lastLayer + 1 - first }, (_, row) => row)
    const kept = ofKept((items) =>
      rows.map((row) =>
        columnsOfKept(items, ({ mean }) => valuesOf(map, mean)?.[row] ?? Number.NaN),
      ),
    )
    const measured = () => rows.map((row) => seriesOf(layerEntropy(row)))
    return {
      columns: () => (isOfMetrics(map) ? measured() : kept()),
      named: () =>
        rows.flatMap((row) => {
          const columns = isOfMetrics(map)
            ? seriesOf(layerEntropy(row))
            : columnsOfKept(comparable(keptSteps().items), ({ mean }) => valuesOf(map, mean)?.[row])
          return columns ? [{ name: nameOf(map, first + row, lastLayer), columns }] : []
        }),
      summarise: () => summary(map, lastLayer),
      // The chart’s library makes its own texts.
      formatRow: (layer: number) => t(shortLayerName(layer, first === 0 ? lastLayer : undefined)),
    }
  }, [map, lastLayer])

interface Props {
  readonly map: HeatKind
  readonly lastLayer: number
  readonly isVisible: boolean
}

export function KeptHeatMap(props: Props) {
  const { map, lastLayer } = props
  const { max_entropy } = useVocabulary()
  const isOfEveryStep = useShown(hasCourse) && isOfMetrics(map)
  return (
    <HeatMap
      id={`${map.id}-chart`}
      title={map.title}
      isPart
      isSparse={!isOfEveryStep}
      file={map.id}
      height={HEIGHT}
      first={map.first}
      last={lastLayer}
      {...useRows(map, lastLayer)}
      scaleMax={max_entropy}
      {...(map.isGrey ? { firstRamp: GREY_RAMP } : {})}
      withNames={false}
      onHover={setLayer}
      foot={<HeatReadout {...props} />}
    />
  )
}

function HeatReadout({ map, lastLayer, isVisible }: Props) {
  const pointed = useStore(cursorStore, selectLayer) ?? lastLayer
  const layer = Math.min(lastLayer, Math.max(map.first, pointed))
  const read = useCallback(() => {
    if (!isVisible) return undefined
    const [kept, step] = [keptSteps(), readStep()]
    if (isOfMetrics(map)) {
      const columns = seriesOf(layerEntropy(layer))
      return {
        stops: columns ? stepsOf(columns) : [],
        at: step,
        text: `${nameOf(map, layer, lastLayer)}, ${step === undefined ? 'latest' : `step ${step}`}: ${formatNats(valueAt(layerEntropy(layer), step))}`,
      }
    }
    const seen = observedAt(kept, step, [map.quantity])
    const value = seen && valuesOf(map, seen.item.mean)?.[layer - map.first]
    const when = seen ? `step ${seen.step}` : step === undefined ? 'latest' : `step ${step}`
    return {
      stops: kept.items.map((item) => item.step),
      at: step,
      text: `${nameOf(map, layer, lastLayer)}, ${when}: ${formatNats(value)}`,
    }
  }, [map, layer, lastLayer, isVisible])
  return (
    <Readout
      id={`${map.id}-value`}
      label={`Step, and layer by up and down, in “${map.title}”`}
      read={read}
      onMove={moveTo}
      onVertical={(by) => setLayer(Math.min(lastLayer, Math.max(map.first, layer + by)))}
    />
  )
}
