// Draws a small chart over the layers of one observation; all of them share the layer that is
// pointed at.
import { useStore } from 'zustand'
import { Readout } from '../../plot/Readout.tsx'
import { type Axis, layerAxis } from '../../plot/still/axes.ts'
import { SvgChart, type SvgChartProps } from '../../plot/still/SvgChart.tsx'
import { cursorStore, setLayer } from '../../shown/cursor.ts'

export interface LayerChartProps extends Omit<SvgChartProps, 'axis' | 'cursor' | 'onCursor'> {
  readonly title: string
  /** Of the axis of values; a cosine or a length has none. */
  readonly unit?: string
  /** 0 where a state of the embedding is drawn, else 1. */
  readonly first: number
  readonly last: number
  /** What is drawn are the layers’ policies, of which the last is the final one. */
  readonly policies?: boolean
  /** The values of a layer in words. */
  readonly read: (layer: number) => string
}

const selectLayer = ({ layer }: { layer: number | undefined }) => layer

export function LayerChart(props: LayerChartProps) {
  const { unit, policies, ...drawn } = props
  const { id, title, first, last, read } = drawn
  const layer = useStore(cursorStore, selectLayer)
  const axis: Axis = layerAxis(first, last, policies)
  const cursor = layer !== undefined && axis.stops.includes(layer) ? layer : undefined
  return (
    <div className="layer-chart">
      <h3>{unit === undefined ? title : `${title}, ${unit}`}</h3>
      <SvgChart {...drawn} id={`${id}-chart`} axis={axis} cursor={cursor} onCursor={setLayer} />
      <Readout
        id={`${id}-value`}
        label={`Layer, in “${title}”`}
        read={() => ({ stops: axis.stops, at: cursor, text: read(cursor ?? last) })}
        onMove={setLayer}
      />
    </div>
  )
}
