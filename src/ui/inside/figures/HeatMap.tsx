// One layer × step map of what was kept: which rows it has, and what it says of them.
import { useCallback, useMemo } from 'react'
import { useStore } from 'zustand'
import { formatNats } from '../../kit/format.ts'
import { HeatMap } from '../../plot/heat/HeatMap.tsx'
import { Readout } from '../../plot/Readout.tsx'
import { oklchToRgb, type Rgb } from '../../scales/palette.ts'
import { cursorStore, setLayer } from '../../shown/cursor.ts'
import { readStep } from '../../shown/readout.ts'
import { shownStore } from '../../shown/shown.ts'
import { uiStore } from '../../shown/store.ts'
import { useVocabulary } from '../../shown/vocabulary.ts'
import { columnsOfKept, ofKept } from '../base/history.ts'
import { type ObservedQuantity, observedAt } from '../base/observed.ts'

const HEIGHT = 178

/** The lightness of a heat map without its colour, for a row that counts less. */
const GREY_RAMP: readonly Rgb[] = Array.from({ length: 256 }, (_, i) =>
  oklchToRgb([0.25 + (0.65 * i) / 255, 0, 0]),
)

export interface HeatKind {
  readonly id: string
  readonly title: string
  readonly quantity: ObservedQuantity
  /** States have a layer 0, the embedding. */
  readonly first: 0 | 1
  readonly is_grey?: boolean
}

const moveTo = (hover_step: number | undefined) => uiStore.setState({ hover_step })
const nameOf = (layer: number) => (layer === 0 ? 'embedding' : `layer ${layer}`)
const formatRow = (layer: number) => (layer === 0 ? 'emb' : `${layer}`)
const selectLayer = ({ layer }: { layer: number | undefined }) => layer
const keptSteps = () => shownStore.getState().kept.observations

/** The map at the shown step in words. */
function summary({ title, quantity, first }: HeatKind, last_layer: number): string {
  const seen = observedAt(keptSteps(), uiStore.getState().at_step, [quantity])
  const values = seen?.item.mean[quantity]
  return values && seen
    ? `${title} at step ${seen.step}: from ${formatNats(values[0])} at ${nameOf(first)} to ${formatNats(values[values.length - 1])} at layer ${last_layer}.`
    : `${title}: nothing was observed.`
}

/** The rows as a map takes them; a kept step that has no numbers of them is a gap. */
const useRows = (map: HeatKind, last_layer: number) =>
  useMemo(() => {
    const { quantity, first } = map
    const rows = Array.from({ length: last_layer + 1 - first }, (_, row) => row)
    return {
      columns: ofKept((items) =>
        rows.map((row) => columnsOfKept(items, ({ mean }) => mean[quantity]?.[row] ?? Number.NaN)),
      ),
      named: () =>
        rows.map((row) => ({
          name: nameOf(first + row),
          columns: columnsOfKept(keptSteps().items, ({ mean }) => mean[quantity]?.[row]),
        })),
      summarise: () => summary(map, last_layer),
    }
  }, [map, last_layer])

interface Props {
  readonly map: HeatKind
  readonly last_layer: number
  readonly is_visible: boolean
}

export function KeptHeatMap(props: Props) {
  const { map, last_layer } = props
  const { max_entropy } = useVocabulary()
  return (
    <HeatMap
      id={`${map.id}-chart`}
      title={map.title}
      is_part
      file={map.id}
      height={HEIGHT}
      first={map.first}
      last={last_layer}
      {...useRows(map, last_layer)}
      scale_max={max_entropy}
      {...(map.is_grey ? { first_ramp: GREY_RAMP } : {})}
      formatRow={formatRow}
      with_names={false}
      onHover={setLayer}
      foot={<HeatReadout {...props} />}
    />
  )
}

function HeatReadout({ map, last_layer, is_visible }: Props) {
  const pointed = useStore(cursorStore, selectLayer) ?? last_layer
  const layer = Math.min(last_layer, Math.max(map.first, pointed))
  const read = useCallback(() => {
    if (!is_visible) return undefined
    const [kept, step] = [keptSteps(), readStep()]
    const seen = observedAt(kept, step, [map.quantity])
    const value = seen?.item.mean[map.quantity]?.[layer - map.first]
    const when = seen ? `step ${seen.step}` : step === undefined ? 'latest' : `step ${step}`
    return {
      stops: kept.items.map((item) => item.step),
      at: step,
      text: `${nameOf(layer)}, ${when}: ${formatNats(value)}`,
    }
  }, [map, layer, is_visible])
  return (
    <Readout
      id={`${map.id}-value`}
      label={`Step, and layer by up and down, in “${map.title}”`}
      read={read}
      onMove={moveTo}
      onVertical={(by) => setLayer(Math.min(last_layer, Math.max(map.first, layer + by)))}
    />
  )
}
