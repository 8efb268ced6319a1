// Draws the entropy of every layer's policy over the run: the understory as a picture.
import { useCallback, useMemo, useState } from 'react'
import { useStore } from 'zustand'
import { layerName, shortLayerName, theLayer } from '../../glossary/layer_names.ts'
import { formatNats } from '../../kit/format.ts'
import { t } from '../../kit/translator.ts'
import { wouldPress } from '../../plot/chart_lines.ts'
import { HeatMap, HeatScale } from '../../plot/heat/HeatMap.tsx'
import { layersSay } from '../../plot/lines/course_says.ts'
import { Readout } from '../../plot/Readout.tsx'
import { ofProbe, READ, reads } from '../../plot/reads.ts'
import { stepsOf } from '../../scales/columns.ts'
import { extentOf } from '../../scales/extent.ts'
import { measuredIn, readStep, useSlowFrame, valueAt } from '../../shown/readout.ts'
import { selectProbeRows, seriesOf, useLastLayer } from '../../shown/run.ts'
import { useShown } from '../../shown/shown.ts'
import { uiStore } from '../../shown/store.ts'

const nameOf = (layer: number) => `layer/entropy/${layer}`
const entropyOf = (layer: number) => seriesOf(nameOf(layer))
const latest = (layer: number, step?: number) => valueAt(nameOf(layer), step)

const highestOf = (layer: number): number => {
  const columns = entropyOf(layer)
  return columns && columns.length > 0 ? extentOf(columns)[1] : 0
}

/** Top of the colour scale: the largest entropy measured so far, 0 before the first; of all layers
 * but the embedding where that would paint the others alike. */
function topOf(lastLayer: number): { readonly top: number; readonly isCut: boolean } {
  const layers = Array.from({ length: lastLayer }, (_, layer) => highestOf(layer + 1))
  const [embedding, others] = [highestOf(0), Math.max(0, ...layers)]
  const isCut = others > 0 && wouldPress(embedding, others)
  return { top: isCut ? others : Math.max(embedding, others), isCut }
}

/** The columns of a layer for a table or a file; none before its first measurement. */
function namedColumns(layer: number) {
  const columns = entropyOf(layer)
  return columns ? [{ name: nameOf(layer), columns }] : []
}

/** The rows as a map takes them: the same functions as long as their number is the same. */
const useRows = (lastLayer: number) =>
  useMemo(() => {
    const layers = Array.from({ length: lastLayer + 1 }, (_, layer) => layer)
    const said = (layer: number) =>
      `${layerName(layer, lastLayer)}: ${formatNats(latest(layer, uiStore.getState().atStep))}`
    return {
      columns: () => layers.map(entropyOf),
      named: () => layers.flatMap(namedColumns),
      says: () =>
        layersSay(
          layers.map((layer) => ({
            metric: nameOf(layer),
            label: theLayer(layer, lastLayer),
          })),
        ),
      summarise: () => `Entropy of each layer’s policy. ${layers.map(said).join('; ')}`,
      // The chart's library makes its own texts.
      formatRow: (layer: number) => t(shortLayerName(layer, lastLayer)),
    }
  }, [lastLayer])

export function EntropyMap({ height }: { readonly height: number }) {
  const lastLayer = useLastLayer()
  const scaleMax = useStore(uiStore, () => topOf(lastLayer).top)
  const rows = useShown(selectProbeRows)
  const [hovered, setHovered] = useState<number>()
  const layer = Math.min(hovered ?? lastLayer, lastLayer)
  return (
    <HeatMap
      id="heatmap-plot"
      testid="heatmap"
      title="Entropy map, layer × step"
      note={`${reads(READ.raw, ofProbe(rows))}. Bright is certain.`}
      file="entropy-map"
      height={height}
      first={0}
      last={lastLayer}
      {...useRows(lastLayer)}
      scaleMax={scaleMax}
      withNames
      // As wide as the charts of lines: steps lie below each other.
      hasGutter
      onHover={setHovered}
      foot={
        <>
          <div className="heat-foot">
            <LayerReadout layer={layer} lastLayer={lastLayer} onLayer={setHovered} />
            <HeatScale max={scaleMax} words={topOf(lastLayer).isCut ? ' and more' : ''} />
          </div>
          <LatestTable rows={lastLayer + 1} />
        </>
      }
    />
  )
}

const moveTo = (hoverStep: number | undefined) => uiStore.setState({ hoverStep })

function LayerReadout(props: {
  readonly layer: number
  readonly lastLayer: number
  readonly onLayer: (layer: number) => void
}) {
  const { layer, lastLayer, onLayer } = props
  const read = useCallback(() => {
    const step = readStep()
    const columns = entropyOf(layer)
    const found = measuredIn([columns], step)
    const own = `${layerName(layer, lastLayer)}${step === undefined ? ', latest' : `, step ${step}`}: ${formatNats(found?.value)}`
    const isOlder = found !== undefined && step !== undefined && found.step !== step
    return {
      stops: columns ? stepsOf(columns) : [],
      at: step,
      text: isOlder ? `${own}, measured at step ${found.step}` : own,
    }
  }, [layer, lastLayer])
  return (
    <Readout
      id="heatmap-value"
      label="Step, and layer by up and down, in the entropy map"
      read={read}
      onMove={moveTo}
      onVertical={(by) => onLayer(Math.min(lastLayer, Math.max(0, layer + by)))}
    />
  )
}

const TABLE_MS = 1000

/** The column of the shown step as a table, for people who do not see the picture. */
function LatestTable({ rows }: { rows: number }) {
  useSlowFrame(TABLE_MS)
  const { atStep } = uiStore.getState()
  return (
    // Not the table itself: Firefox draws the caption of a clipped table.
    <div className="visually-hidden">
      <table data-testid="heatmap-latest">
        <caption>
          {atStep === undefined ? 'Latest entropy by layer' : `Entropy by layer at step ${atStep}`}
        </caption>
        <tbody>
          {Array.from({ length: rows }, (_, layer) => (
            <tr key={layer} data-layer={layer} data-value={latest(layer, atStep)}>
              <th scope="row">{layerName(layer, rows - 1)}</th>
              <td>{formatNats(latest(layer, atStep))}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
