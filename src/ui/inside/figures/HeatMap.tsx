// One layer × step map of entropy: its picture, its row under the pointer, its summary in words.
import { useCallback, useMemo } from 'react'
import { useStore } from 'zustand'
import type { LabState } from '../../../page/state/store.ts'
import { formatNats, formatNumber } from '../../kit/format.ts'
import { ChartCard } from '../../plot/ChartCard.tsx'
import { drawEdits, drawMarks, rowAt } from '../../plot/heat.ts'
import { type Paint, Plot } from '../../plot/Plot.tsx'
import type { Domain } from '../../scales/domain.ts'
import { HEAT_RAMP } from '../../scales/palette.ts'
import type { View } from '../../scales/view.ts'
import { cursorStore, setLayer } from '../../shown/cursor.ts'
import { useEditMarks, usePhaseSpans, useStepDomain } from '../../shown/run.ts'
import { shownStore, useAtStep, useShown } from '../../shown/shown.ts'
import { type UiState, uiStore } from '../../shown/store.ts'
import { useVocabulary } from '../../shown/vocabulary.ts'
import { GREY_RAMP, packedRamp, paintHeat } from '../charts/heat_image.ts'
import { Readout } from '../charts/Readout.tsx'
import { columnsOfKept } from '../history.ts'
import { observedAt } from '../observed.ts'

const HEIGHT = 178
const TICKS = 8

export interface HeatKind {
  readonly id: string
  readonly title: string
  readonly quantity: 'ent_layer_raw' | 'ent_layer_norm' | 'ent_attn_out' | 'ent_ffn_out'
  /** States have a layer 0, the embedding. */
  readonly first: 0 | 1
  readonly is_grey?: boolean
}

const RAMP = packedRamp(HEAT_RAMP)
const GREYS = packedRamp(GREY_RAMP)
const selectKept = (state: LabState) => state.kept.observations
const selectLayer = ({ layer }: { layer: number | undefined }) => layer
const selectHover = ({ hover_step }: UiState) => hover_step
const selectIsDark = ({ is_dark }: UiState) => is_dark
const selectFrame = ({ frame }: UiState) => frame
const asleep = () => 0
const moveTo = (hover_step: number | undefined) => uiStore.setState({ hover_step })

/** A picture that is painted again only when what is kept, its size or its steps have changed. */
class HeatPicture {
  readonly #map: HeatKind
  readonly #rows: number
  readonly #max_entropy: number
  #canvas: HTMLCanvasElement | undefined
  #stamp = ''
  #kept: object | undefined

  constructor(map: HeatKind, last_layer: number, max_entropy: number) {
    this.#map = map
    this.#rows = last_layer + 1 - map.first
    this.#max_entropy = max_entropy
  }

  /** One pixel high per layer. */
  draw(width: number, { x, scale }: View): HTMLCanvasElement | undefined {
    const { kept, kept_version } = shownStore.getState()
    const stamp = `${kept_version} ${width} ${x[0]} ${x[1]} ${scale?.steps} ${scale?.places}`
    // After a crash of the GPU process a canvas that nobody sees is not given back.
    if (this.#canvas?.getContext('2d')?.isContextLost()) this.#canvas = undefined
    if (this.#canvas && this.#stamp === stamp && this.#kept === kept) return this.#canvas
    const canvas = this.#canvas ?? document.createElement('canvas')
    canvas.width = width
    canvas.height = this.#rows
    const ctx = canvas.getContext('2d')
    if (!ctx) return undefined
    const words = new Uint32Array(width * this.#rows)
    paintHeat(
      kept.observations.items,
      {
        quantity: this.#map.quantity,
        rows: this.#rows,
        width,
        x,
        scale,
        max: this.#max_entropy,
        ramp: RAMP,
        first_ramp: this.#map.is_grey ? GREYS : RAMP,
      },
      words,
    )
    const bytes = new Uint8ClampedArray(words.buffer)
    ctx.putImageData(new ImageData(bytes, width, this.#rows), 0, 0)
    this.#canvas = canvas
    this.#stamp = stamp
    this.#kept = kept
    return canvas
  }
}

/** 'embedding' or 'layer 3'. */
const nameOf = (layer: number) => (layer === 0 ? 'embedding' : `layer ${layer}`)

interface HeatMapProps {
  readonly map: HeatKind
  readonly last_layer: number
  readonly is_visible: boolean
}

/** Paints the map, with marks where phases begin and where the run was changed by hand. */
function usePaint(map: HeatKind, last_layer: number): Paint {
  const spans = usePhaseSpans()
  const edits = useEditMarks()
  const { max_entropy } = useVocabulary()
  const picture = useMemo(
    () => new HeatPicture(map, last_layer, max_entropy),
    [map, last_layer, max_entropy],
  )
  return useCallback<Paint>(
    (ctx, view, pixel_ratio) => {
      const image = picture.draw(Math.max(1, Math.round(view.width * pixel_ratio)), view)
      ctx.imageSmoothingEnabled = false
      if (image) ctx.drawImage(image, 0, 0, view.width, view.height)
      drawMarks(
        ctx,
        spans.map(({ step }) => step),
        view,
      )
      drawEdits(ctx, edits, view)
    },
    [picture, spans, edits],
  )
}

/** The map at the shown step in words. */
function useSummary({ title, quantity, first }: HeatKind, last_layer: number): () => string {
  const at_step = useAtStep()
  return useCallback(() => {
    const seen = observedAt(shownStore.getState().kept.observations, at_step, [quantity])
    const values = seen?.item.mean[quantity]
    return values && seen
      ? `${title} at step ${seen.step}: from ${formatNats(values[0])} at ${nameOf(first)} to ${formatNats(values[values.length - 1])} at layer ${last_layer}.`
      : `${title}: nothing was observed.`
  }, [title, quantity, first, last_layer, at_step])
}

/** A column of steps for each row of the map, for files and the table. */
const columnsOf = ({ quantity, first }: HeatKind, rows: number) =>
  Array.from({ length: rows }, (_, row) => ({
    name: nameOf(first + row),
    columns: columnsOfKept(
      shownStore.getState().kept.observations.items,
      ({ mean }) => mean[quantity]?.[row],
    ),
  }))

export function HeatMap({ map, last_layer, is_visible }: HeatMapProps) {
  const { id, title, first } = map
  const { max_entropy } = useVocabulary()
  const x = useStepDomain()
  const is_dark = useStore(uiStore, selectIsDark)
  const rows = last_layer + 1 - first
  const paint = usePaint(map, last_layer)
  const summarise = useSummary(map, last_layer)
  const ticks = useMemo(() => {
    const every = Math.ceil(rows / TICKS)
    return Array.from({ length: rows }, (_, i) => first + i).filter((_, i) => i % every === 0)
  }, [rows, first])
  const y = useMemo<Domain>(() => [first - 0.5, last_layer + 0.5], [first, last_layer])
  const onHoverY = useCallback(
    (share: number | undefined) =>
      setLayer(share === undefined ? undefined : first + rowAt(share, 1, rows)),
    [first, rows],
  )
  return (
    <ChartCard
      id={`${id}-chart`}
      title={title}
      is_part
      file={id}
      x={x}
      has_log={false}
      columns={() => columnsOf(map, rows)}
      picture={() => ({
        title: `${title}, 0 to ${formatNats(max_entropy)}`,
        y_label: 'layer',
        is_dark,
        keys: [],
      })}
      formatValue={formatNumber}
      plot={({ id, handle }) => (
        <Plot
          id={id}
          title={title}
          handle={handle}
          height={HEIGHT}
          x={x}
          y={y}
          y_ticks={ticks}
          formatY={formatRow}
          with_names={false}
          show_grid={false}
          paint={paint}
          covers_frame
          summarise={summarise}
          onHoverY={onHoverY}
        />
      )}
      foot={<HeatReadout map={map} last_layer={last_layer} is_visible={is_visible} />}
    />
  )
}

const formatRow = (layer: number) => (layer === 0 ? 'emb' : `${layer}`)

function HeatReadout({ map, last_layer, is_visible }: HeatMapProps) {
  useStore(uiStore, is_visible ? selectFrame : asleep)
  const hover_step = useStore(uiStore, selectHover)
  const at_step = useAtStep()
  const kept = useShown(selectKept)
  const pointed = useStore(cursorStore, selectLayer) ?? last_layer
  const layer = Math.min(last_layer, Math.max(map.first, pointed))
  const step = hover_step ?? at_step
  const seen = observedAt(kept, step, [map.quantity])
  const value = seen?.item.mean[map.quantity]?.[layer - map.first]
  const when = seen ? `step ${seen.step}` : step === undefined ? 'latest' : `step ${step}`
  return (
    <Readout
      id={`${map.id}-value`}
      label={`Step, and layer by up and down, in “${map.title}”`}
      stops={kept.items.map((item) => item.step)}
      at={step}
      onMove={moveTo}
      onVertical={(by) => setLayer(Math.min(last_layer, Math.max(map.first, layer + by)))}
      text={`${nameOf(layer)}, ${when}: ${formatNats(value)}`}
    />
  )
}
