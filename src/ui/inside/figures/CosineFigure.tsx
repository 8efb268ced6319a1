// Draws whether writes go along with the residual stream or against it (BuPO, arXiv 2512.19673,
// figure 12).
import type { Observation } from '../../../host/protocol/observation.ts'
import { formatNumber, formatTick } from '../../kit/format.ts'
import { Keys } from '../../plot/base/Keys.tsx'
import { FigureNumbers } from '../../plot/files/FigureNumbers.tsx'
import { READ } from '../../plot/reads.ts'
import { linearScale } from '../../plot/still/axes.ts'
import { cosinePoints } from '../base/points.ts'
import { cosineSays } from '../base/says.ts'
import { ATTENTION, FEED_FORWARD } from '../charts/colors.ts'
import { LayerChart } from '../charts/LayerChart.tsx'
import { Figure } from '../frame/Figure.tsx'
import { useFigure } from '../frame/use_figure.ts'

const GROUPS = ['cosines'] as const
const QUANTITIES = ['cos_attn', 'cos_ffn'] as const
const ZERO = [{ value: 0 }]
const SCALE = linearScale([], [-1, 1])
const KEYS = [
  { label: 'cos(A, H): attention', color: ATTENTION },
  { label: 'cos(F, H + A): feed-forward', color: FEED_FORWARD, dash: [5, 3] },
]

function Cosines({ observation }: { observation: Observation }) {
  const { attention, feed_forward } = cosinePoints(observation)
  const at = (points: typeof attention, layer: number) =>
    formatNumber(points.find(([l]) => l === layer)?.[1])
  const read = (layer: number) =>
    `Layer ${layer}: attention ${at(attention, layer)}, feed-forward ${at(feed_forward, layer)}`
  return (
    <LayerChart
      id="cosines"
      title="Cosine with the residual stream"
      summary={`Cosines of writes with the stream they are added to. ${attention.map(([layer]) => read(layer)).join('; ')}.`}
      first={1}
      last={observation.num_hidden_layers}
      height={190}
      scale={SCALE}
      formatY={formatTick}
      marks={ZERO}
      lines={[
        { key: 'A', color: ATTENTION, width: 2, points: attention },
        { key: 'F', color: FEED_FORWARD, width: 2, dash: [5, 3], points: feed_forward },
      ]}
      dots={[
        { key: 'A', color: ATTENTION, points: attention },
        { key: 'F', color: FEED_FORWARD, points: feed_forward },
      ]}
      read={read}
    />
  )
}

export function CosineFigure() {
  const state = useFigure('cosines', GROUPS, QUANTITIES)
  const { seen } = state
  return (
    <Figure
      id="cosine"
      how={READ.writes}
      title="Do writes add, turn or take away?"
      note="Near 0 a block writes a new direction, above 0 it amplifies what is there, below 0 it removes some of it. The angle says nothing about size: a long write at cosine 0 changes more than a short one at 0.5, and a mean near 0 may hide tokens on both sides."
      state={state}
      says={seen && cosineSays(seen.item)}
    >
      {seen ? (
        <>
          <Keys keys={KEYS} />
          <Cosines observation={seen.item} />
          <FigureNumbers
            id="cosine-numbers"
            caption={`Residual cosines at step ${seen.step}`}
            table={() => {
              const { attention, feed_forward } = cosinePoints(seen.item)
              return {
                columns: ['layer', 'cos(A, H)', 'cos(F, H + A)'],
                rows: attention.map(([layer, value], i) => [
                  `${layer}`,
                  formatNumber(value),
                  formatNumber(feed_forward[i]?.[1]),
                ]),
              }
            }}
          />
        </>
      ) : null}
    </Figure>
  )
}
