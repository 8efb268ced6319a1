// Draws what attention, feed-forward and the layer as a whole do to the entropy (BuPO, arXiv
// 2512.19673, figure 3).
import type { Observation } from '../../../host/protocol/observation.ts'
import { formatNumber, formatSigned, formatTick } from '../../kit/format.ts'
import { FigureNumbers } from '../../plot/files/FigureNumbers.tsx'
import type { NumberTable } from '../../plot/files/number_table.ts'
import { READ } from '../../plot/reads.ts'
import { linearScale, type Scale } from '../../plot/still/axes.ts'
import { type Band, CHANGE_NAMES, type Change, deltaBands } from '../base/points.ts'
import { deltaSays } from '../base/says.ts'
import { ATTENTION, FEED_FORWARD, STATE } from '../charts/colors.ts'
import { LayerChart } from '../charts/LayerChart.tsx'
import { Figure } from '../frame/Figure.tsx'
import { useFigure } from '../frame/use_figure.ts'

const GROUPS = ['flow'] as const
const QUANTITIES = ['dH_attn', 'dH_ffn', 'dH_layer'] as const
const ZERO = [{ value: 0 }]

const CHANGES: Readonly<Record<Change, { title: string; color: string }>> = {
  attention: { title: 'ΔH of attention', color: ATTENTION },
  'feed-forward': { title: 'ΔH of the feed-forward', color: FEED_FORWARD },
  layer: { title: 'ΔH of the layer', color: STATE },
}

const spreadOf = ({ mean, high }: Band) => (high === undefined ? undefined : high - mean)

const bandWords = (bands: readonly Band[], layer: number) => {
  const band = bands.find((one) => one.layer === layer)
  if (!band) return `Layer ${layer}: –`
  const spread = spreadOf(band)
  return `Layer ${layer}: ${formatSigned(band.mean)}${spread === undefined ? '' : ` ± ${formatNumber(spread)}`} nats`
}

function DeltaChart({
  observation,
  change,
  scale,
}: {
  observation: Observation
  change: Change
  scale: Scale
}) {
  const bands = deltaBands(observation, change)
  const { title, color } = CHANGES[change]
  const raised = bands.filter(({ mean }) => mean > 0).map(({ layer }) => layer)
  return (
    <LayerChart
      id={`delta-${change}`}
      title={title}
      unit="nats"
      summary={`${title}: above zero in ${raised.length === 0 ? 'no layer' : `layers ${raised.join(', ')}`}.`}
      first={1}
      last={observation.num_hidden_layers}
      height={170}
      scale={scale}
      formatY={formatTick}
      marks={ZERO}
      bands={[
        {
          key: 'spread',
          color,
          points: bands.flatMap(({ layer, low, high }): [number, number, number][] =>
            low === undefined || high === undefined ? [] : [[layer, low, high]],
          ),
        },
      ]}
      lines={[
        {
          key: change,
          color,
          width: 2,
          points: bands.map(({ layer, mean }): [number, number] => [layer, mean]),
        },
      ]}
      dots={[
        {
          key: change,
          color,
          points: bands.map(({ layer, mean }): [number, number] => [layer, mean]),
        },
      ]}
      read={(layer) => bandWords(bands, layer)}
    />
  )
}

function numbers(observation: Observation): NumberTable {
  const all = CHANGE_NAMES.map((change) => deltaBands(observation, change))
  return {
    columns: [
      'layer',
      ...CHANGE_NAMES.flatMap((change) => [CHANGES[change].title, `± (${change})`]),
    ],
    rows: Array.from({ length: observation.num_hidden_layers }, (_, i) => [
      `${i + 1}`,
      ...all.flatMap((bands) => [
        formatSigned(bands[i]?.mean),
        formatNumber(bands[i] && spreadOf(bands[i])),
      ]),
    ]),
  }
}

export function DeltaFigure() {
  const state = useFigure('delta', GROUPS, QUANTITIES)
  const { seen } = state
  const values = seen
    ? CHANGE_NAMES.flatMap((change) => deltaBands(seen.item, change)).flatMap(
        ({ mean, low, high }) => [mean, low, high],
      )
    : []
  const scale = linearScale(values, [0])
  return (
    <Figure
      id="delta"
      title="Change of entropy in every layer"
      how={READ.changes}
      note="Above zero a part spreads the choice of tokens, below zero it narrows it; the band is one standard deviation over the tokens to both sides, not the error of the mean. Attention and feed-forward compare a raw write with their own input, the state through the block’s own norm: two vectors of different lengths, so their sign and size are partly a matter of length, and the two do not add up to the layer, which compares the states before and after it. The normed states of “Entropy flow” went through the model’s final norm instead, so these two changes cannot be computed from it; that of the layer can, from its raw states."
      state={state}
      says={seen && deltaSays(seen)}
    >
      {seen ? (
        <>
          <div className="figure-grid">
            {CHANGE_NAMES.map((change) => (
              <DeltaChart key={change} observation={seen.item} change={change} scale={scale} />
            ))}
          </div>
          <FigureNumbers
            id="delta-numbers"
            caption={`Change of entropy at step ${seen.step}, nats`}
            table={() => numbers(seen.item)}
          />
        </>
      ) : null}
    </Figure>
  )
}
