// Entropy of every layer's policy over the run: the understory as a picture.
import { useCallback, useMemo, useRef, useState } from 'react'
import { useStore } from 'zustand'
import { formatNats, formatNumber, NONE } from '../kit/format.ts'
import { extentOf } from '../scales/extent.ts'
import { HEAT_RAMP } from '../scales/palette.ts'
import { readStep, useSlowFrame, valueAt } from '../shown/readout.ts'
import { seriesOf, useEditMarks, useLastLayer, usePhaseSpans, useStepDomain } from '../shown/run.ts'
import { type UiState, uiStore } from '../shown/store.ts'
import { ChartCard } from './ChartCard.tsx'
import { drawEdits, drawMarks, firstColumn, heatmapPixels, rowAt } from './heat.ts'
import { drawnColumns } from './lines/repaint.ts'
import { useLiveText } from './live_text.ts'
import { type Paint, Plot } from './Plot.tsx'

const nameOf = (layer: number) => `layer/entropy/${layer}`
const entropyOf = (layer: number) => seriesOf(nameOf(layer))
const columnsOf = (rows: number) => Array.from({ length: rows }, (_, layer) => entropyOf(layer))
const latest = (layer: number, step?: number) => valueAt(nameOf(layer), step)

/** Top of the colour scale: the largest entropy measured so far; 0 before the first. */
function scaleMax(last_layer: number): number {
  let max = 0
  for (let layer = 0; layer <= last_layer; layer++) {
    const columns = entropyOf(layer)
    if (columns) max = Math.max(max, extentOf(columns)[1])
  }
  return max
}

/** Name of a layer as the page writes it. */
export function layerName(layer: number, last_layer: number): string {
  if (layer === 0) return '0 embedding'
  return layer === last_layer ? `${layer} final policy` : `layer ${layer}`
}

const TITLE = 'Entropy map, layer × step'
const selectIsDark = (state: UiState) => state.is_dark

/** Paints a row of pixels for each layer, scaled up to the plot. */
function usePaint(rows: number, scale_max: number): Paint {
  const spans = usePhaseSpans()
  const edits = useEditMarks()
  const strip = useRef<HTMLCanvasElement>(undefined)
  return useCallback<Paint>(
    (ctx, view, pixel_ratio, from) => {
      const width = Math.max(1, Math.round(view.width * pixel_ratio))
      const first = from === undefined ? 0 : firstColumn(from, view, width)
      const columns = columnsOf(rows)
      const pixels = heatmapPixels(
        columns,
        { width, x: view.x, scale: view.scale, first },
        scale_max,
        HEAT_RAMP,
      )
      // After a crash of the GPU process a canvas that nobody sees is not given back.
      if (strip.current?.getContext('2d')?.isContextLost()) strip.current = undefined
      strip.current ??= document.createElement('canvas')
      strip.current.width = width - first
      strip.current.height = rows
      strip.current.getContext('2d')?.putImageData(new ImageData(pixels, width - first, rows), 0, 0)
      ctx.imageSmoothingEnabled = false
      const left = (first / width) * view.width
      ctx.drawImage(strip.current, left, 0, view.width - left, view.height)
      drawMarks(
        ctx,
        spans.map(({ step }) => step),
        view,
      )
      drawEdits(ctx, edits, view)
    },
    [rows, scale_max, spans, edits],
  )
}

const summary = (rows: number) =>
  `Entropy of each layer’s policy. ${Array.from(
    { length: rows },
    (_, layer) =>
      `${layerName(layer, rows - 1)}: ${formatNats(latest(layer, uiStore.getState().at_step))}`,
  ).join('; ')}`

/** Name of a layer where there is room for a few letters. */
function shortName(layer: number, last_layer: number): string {
  if (layer === 0) return '0\u00a0emb'
  return layer === last_layer ? `${layer}\u00a0fin` : `${layer}`
}

/** The columns of a layer for a table or a file; none before its first measurement. */
function namedColumns(layer: number) {
  const columns = entropyOf(layer)
  return columns ? [{ name: nameOf(layer), columns }] : []
}

/** The rows as a plot takes them: the same functions as long as their number is the same. */
const useRows = (rows: number) =>
  useMemo(() => {
    const ticks = Array.from({ length: rows }, (_, layer) => layer)
    return {
      ticks,
      drawn: () => columnsOf(rows).flatMap((columns) => (columns ? [drawnColumns(columns)] : [])),
      summarise: () => summary(rows),
      formatRow: (layer: number) => shortName(layer, rows - 1),
      columns: () => ticks.flatMap(namedColumns),
    }
  }, [rows])

export function Heatmap({ height }: { readonly height: number }) {
  const last_layer = useLastLayer()
  const rows = last_layer + 1
  const scale_max = useStore(uiStore, () => scaleMax(last_layer))
  const [hovered, setHovered] = useState<number>()
  const steps = useStepDomain()
  const is_dark = useStore(uiStore, selectIsDark)
  const paint = usePaint(rows, scale_max)
  const { drawn, summarise, ticks, formatRow, columns } = useRows(rows)
  const onHoverY = useCallback(
    (share: number | undefined) =>
      setHovered(share === undefined ? undefined : rowAt(share, 1, rows)),
    [rows],
  )
  const picture = useCallback(
    () => ({
      title: `${TITLE}, 0 to ${formatNats(scale_max)}`,
      y_label: 'layer',
      keys: [],
      is_dark,
    }),
    [scale_max, is_dark],
  )
  return (
    <ChartCard
      id="heatmap-plot"
      testid="heatmap"
      data_rows={rows}
      title={TITLE}
      note="Bottom row is the embedding, top row the final policy. Dark is certain."
      file="entropy-map"
      x={steps}
      has_log={false}
      columns={columns}
      picture={picture}
      formatValue={formatNumber}
      plot={({ id, handle }) => (
        <Plot
          id={id}
          title={TITLE}
          handle={handle}
          height={height}
          x={steps}
          y={[-0.5, rows - 0.5]}
          y_ticks={ticks}
          formatY={formatRow}
          with_names
          // As wide as the charts of lines: steps lie below each other.
          has_gutter
          show_grid={false}
          paint={paint}
          drawn={drawn}
          covers_frame
          summarise={summarise}
          onHoverY={onHoverY}
        />
      )}
      foot={<Foot rows={rows} hovered={hovered} scale_max={scale_max} />}
    />
  )
}

const RAMP_CSS = `linear-gradient(90deg, ${HEAT_RAMP.filter((_, i) => i % 51 === 0)
  .map(([r, g, b]) => `rgb(${r} ${g} ${b})`)
  .join(', ')})`

function Scale({ max }: { readonly max: number }) {
  return (
    <span className="heat-scale">
      <span>0</span>
      <span className="heat-ramp" aria-hidden="true" style={{ backgroundImage: RAMP_CSS }} />
      <span>{max > 0 ? `${formatNumber(max)} nats` : NONE}</span>
    </span>
  )
}

function Foot(props: { rows: number; hovered: number | undefined; scale_max: number }) {
  const { rows, hovered, scale_max } = props
  return (
    <>
      <div className="heat-foot">
        <Readout hovered={hovered} last_layer={rows - 1} />
        <Scale max={scale_max} />
      </div>
      <LatestTable rows={rows} />
    </>
  )
}

function Readout({ hovered, last_layer }: { hovered: number | undefined; last_layer: number }) {
  const layer = Math.min(hovered ?? last_layer, last_layer)
  const text = useCallback(() => {
    const step = readStep()
    const when = step === undefined ? ', latest' : `, step ${step}`
    return `${layerName(layer, last_layer)}${when}: ${formatNats(latest(layer, step))}`
  }, [layer, last_layer])
  return <span ref={useLiveText<HTMLElement>(text)} data-testid="heatmap-value" />
}

const TABLE_MS = 1000

/** The column of the shown step as a table, for people who do not see the picture. */
function LatestTable({ rows }: { rows: number }) {
  useSlowFrame(TABLE_MS)
  const { at_step } = uiStore.getState()
  return (
    // Not the table itself: Firefox draws the caption of a clipped table.
    <div className="visually-hidden">
      <table data-testid="heatmap-latest">
        <caption>
          {at_step === undefined
            ? 'Latest entropy by layer'
            : `Entropy by layer at step ${at_step}`}
        </caption>
        <tbody>
          {Array.from({ length: rows }, (_, layer) => (
            <tr key={layer} data-layer={layer} data-value={latest(layer, at_step)}>
              <th scope="row">{layerName(layer, rows - 1)}</th>
              <td>{formatNats(latest(layer, at_step))}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
