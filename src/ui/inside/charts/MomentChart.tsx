// Draws one moment over the layers: a line over the steps of a single one would say nothing.

import { layerName } from '../../glossary/layer_names.ts'
import { formatNats, formatTick } from '../../kit/format.ts'
import { Keys } from '../../plot/base/Keys.tsx'
import { linearScale } from '../../plot/still/axes.ts'
import { LayerChart } from './LayerChart.tsx'

export interface MomentLine {
  readonly label: string
  /** Any CSS colour. */
  readonly color: string
  readonly dash?: readonly number[]
  /** The layer of its first value. */
  readonly first: number
  /** Nats; one that is not finite is a gap. */
  readonly values: readonly number[]
}

interface MomentChartProps {
  readonly id: string
  readonly title: string
  readonly last: number
  readonly lines: readonly MomentLine[]
  /** Values that the axis always holds. */
  readonly must: readonly number[]
}

const HEIGHT = 230

export function MomentChart({ id, title, last, lines, must }: MomentChartProps) {
  const drawn = lines.map(({ label, first, values, ...look }) => ({
    ...look,
    key: label,
    width: 2,
    points: values.map((value, i): [number, number] => [first + i, value]),
  }))
  const read = (layer: number) =>
    `${layerName(layer, last)}: ${lines
      .flatMap(({ label, first, values }) => {
        const value = values[layer - first]
        return value === undefined ? [] : [`${label} ${formatNats(value)}`]
      })
      .join(', ')}`
  return (
    <>
      {lines.length > 1 ? <Keys keys={lines} /> : null}
      <LayerChart
        id={id}
        title={title}
        unit="nats"
        summary={`${title}. ${Array.from({ length: last + 1 }, (_, layer) => read(layer)).join('; ')}.`}
        first={Math.min(...lines.map(({ first }) => first))}
        last={last}
        policies
        height={HEIGHT}
        scale={linearScale(
          lines.flatMap(({ values }) => values),
          must,
        )}
        formatY={formatTick}
        lines={drawn}
        dots={drawn}
        read={read}
      />
    </>
  )
}
