// Draws the entropy on its way through the layers, with the lengths that it depends on (BuPO, arXiv
// 2512.19673, figure 2).
import { useId, useState } from 'react'
import type { Observation } from '../../../host/protocol/observation.ts'
import { formatNats, formatNumber, formatTick } from '../../kit/format.ts'
import { Keys } from '../../plot/base/Keys.tsx'
import { FigureNumbers } from '../../plot/files/FigureNumbers.tsx'
import type { NumberTable } from '../../plot/files/number_table.ts'
import { READ } from '../../plot/reads.ts'
import { linearScale, logScale } from '../../plot/still/axes.ts'
import { useVocabulary } from '../../shown/vocabulary.ts'
import {
  type FlowPlace,
  type FlowPoint,
  flowAt,
  flowPoints,
  flowWays,
  normPoints,
  type Reading,
} from '../base/points.ts'
import { flowSays } from '../base/says.ts'
import { ATTENTION, FEED_FORWARD, GREY, STATE } from '../charts/colors.ts'
import { LayerChart } from '../charts/LayerChart.tsx'
import { Figure } from '../frame/Figure.tsx'
import { useFigure } from '../frame/use_figure.ts'

const GROUPS = ['flow', 'entropy'] as const
const QUANTITIES = ['ent_layer_raw', 'ent_attn_out', 'ent_ffn_out'] as const
const HEIGHT = 230

const VIEWS = { both: 'side by side', raw: READ.raw, normed: READ.normed } as const
type FlowView = keyof typeof VIEWS
const VIEW_NAMES = Object.keys(VIEWS) as readonly FlowView[]

const COLORS: Readonly<Record<FlowPlace, string>> = {
  input: STATE,
  attention: ATTENTION,
  'feed-forward': FEED_FORWARD,
  output: STATE,
}

const KEYS = [
  { label: 'states H: what enters and leaves a layer', color: STATE },
  { label: 'attention’s write A', color: ATTENTION },
  { label: 'feed-forward’s write F', color: FEED_FORWARD },
]

/** Of the view of normed states. */
const GREY_KEY = {
  label: 'grey: the embedding through the final norm, stretched to a length it never had',
  color: GREY,
  dash: [2, 3],
}

const PLACES: Readonly<Record<FlowPlace, { readonly label: string }>> = {
  input: { label: 'input' },
  attention: { label: 'attention' },
  'feed-forward': { label: 'feed-forward' },
  output: { label: 'output' },
}

const wordsOf = (points: readonly FlowPoint[], layer: number) => {
  const own = points.filter((point) => point.layer === layer)
  return own.length === 0
    ? `Layer ${layer}: –`
    : `Layer ${layer}: ${own.map(({ place, value }) => `${PLACES[place].label} ${formatNumber(value)}`).join(', ')} nats`
}

const dotsOf = (points: readonly FlowPoint[]) =>
  [...new Set(points.map(({ place, isGrey }) => (isGrey ? GREY : COLORS[place])))].map((color) => ({
    key: color,
    color,
    points: points
      .filter(({ place, isGrey }) => (isGrey ? GREY : COLORS[place]) === color)
      .map((point): [number, number] => [flowAt(point), point.value]),
  }))

function Flow({ observation, reading }: { observation: Observation; reading: Reading }) {
  const points = flowPoints(observation, reading)
  const { tokens, max_entropy } = useVocabulary()
  const title = reading === 'raw' ? 'Raw state, of the last layer too' : 'Normed state'
  if (points.length === 0)
    return (
      <div className="layer-chart">
        <h3>{title}</h3>
        <p className="soft">Not measured at this step.</p>
      </div>
    )
  const [begin, end] = [points[0].value, points[points.length - 1].value]
  const { states, stems } = flowWays(points)
  // What comes out of the greyed embedding is drawn apart.
  const hasGrey = points.some(({ isGrey }) => isGrey)
  return (
    <LayerChart
      id={`flow-${reading}`}
      title={title}
      unit="nats"
      summary={`${title}: entropy from ${formatNats(begin)} at the embedding to ${formatNats(end)} after the last layer; at most ${formatNats(max_entropy)}.`}
      first={1}
      last={observation.num_hidden_layers}
      height={HEIGHT}
      scale={linearScale([max_entropy * 1.04], [0])}
      formatY={formatTick}
      lines={[
        ...stems.map(({ place, points }, i) => ({
          key: `stem ${i}`,
          color: COLORS[place],
          width: 1.25,
          points,
        })),
        { key: 'flow', color: STATE, width: 2, points: hasGrey ? states.slice(1) : states },
        ...(hasGrey
          ? [{ key: 'grey', color: GREY, width: 1, dash: [2, 3], points: states.slice(0, 2) }]
          : []),
      ]}
      dots={dotsOf(points)}
      marks={[{ value: max_entropy, label: `ln ${tokens.length} = ${max_entropy.toFixed(2)}` }]}
      read={(layer) => wordsOf(points, layer)}
    />
  )
}

function Norms({ observation }: { observation: Observation }) {
  const { hidden, attention, feed_forward } = normPoints(observation)
  const all = [...hidden, ...attention, ...feed_forward]
  const normAt = (points: typeof all, layer: number) =>
    formatNumber(points.find(([l]) => l === layer)?.[1])
  if (hidden.length === 0)
    return (
      <div className="layer-chart">
        <h3>Lengths of states and writes</h3>
        <p className="soft">Not measured at this step.</p>
      </div>
    )
  return (
    <LayerChart
      id="flow-norms"
      title="Lengths of states and writes"
      summary={`Length of the states from ${formatNumber(hidden[0][1])} at the embedding to ${formatNumber(hidden[hidden.length - 1][1])} after the last layer, on a logarithmic axis.`}
      first={0}
      last={observation.num_hidden_layers}
      height={HEIGHT}
      scale={logScale(all.map(([, value]) => value))}
      formatY={formatTick}
      lines={[
        { key: 'H', color: STATE, width: 2, points: hidden },
        { key: 'A', color: ATTENTION, width: 1.5, dash: [5, 3], points: attention },
        { key: 'F', color: FEED_FORWARD, width: 1.5, dash: [2, 2], points: feed_forward },
      ]}
      read={(layer) =>
        `${layer === 0 ? 'Embedding' : `Layer ${layer}`}: ‖H‖ ${normAt(hidden, layer)}, ‖A‖ ${normAt(attention, layer)}, ‖F‖ ${normAt(feed_forward, layer)}`
      }
    />
  )
}

function numbers(observation: Observation): NumberTable {
  const raw = flowPoints(observation, 'raw')
  const normed = flowPoints(observation, 'normed')
  const lengths = normPoints(observation)
  const of = (points: readonly FlowPoint[], layer: number, place: FlowPlace) =>
    formatNumber(points.find((point) => point.layer === layer && point.place === place)?.value)
  const length = (points: readonly (readonly [number, number])[], layer: number) =>
    formatNumber(points.find(([l]) => l === layer)?.[1])
  return {
    columns: [
      'layer',
      'input raw',
      'input normed',
      'attention',
      'feed-forward',
      'output raw',
      'output normed',
      '‖H‖',
      '‖A‖',
      '‖F‖',
    ],
    rows: Array.from({ length: observation.num_hidden_layers }, (_, i) => [
      `${i + 1}`,
      of(raw, i + 1, 'input'),
      `${of(normed, i + 1, 'input')}${i === 0 ? ' (grey)' : ''}`,
      of(raw, i + 1, 'attention'),
      of(raw, i + 1, 'feed-forward'),
      of(raw, i + 1, 'output'),
      of(normed, i + 1, 'output'),
      length(lengths.hidden, i + 1),
      length(lengths.attention, i + 1),
      length(lengths.feed_forward, i + 1),
    ]),
  }
}

function Views({ view, onView }: { view: FlowView; onView: (view: FlowView) => void }) {
  const name = useId()
  return (
    <fieldset className="range figure-views">
      <legend className="visually-hidden">How states are read</legend>
      {VIEW_NAMES.map((one) => (
        <label key={one}>
          <input
            type="radio"
            name={name}
            value={one}
            checked={one === view}
            onChange={() => onView(one)}
          />
          {VIEWS[one]}
        </label>
      ))}
    </fieldset>
  )
}

export function FlowFigure() {
  const state = useFigure('flow', GROUPS, QUANTITIES)
  const [view, setView] = useState<FlowView>('both')
  const { seen } = state
  return (
    <Figure
      id="flow"
      title="Entropy flow through the layers"
      how={READ.both}
      note="How undecided the policy of each state is, from what enters a layer to what leaves it, and beside that line the policy of what its attention and its feed-forward write. Without a norm the logits grow with the state’s length, so a longer state looks more certain even where it points the same way: compare with the lengths beside it. Through the final norm the bare embedding is stretched to a length it never had, so it is grey. The normed state is not the own input from which ΔH of attention and feed-forward is measured in “Change of entropy”: that went through the block’s own norm."
      state={state}
      says={seen && flowSays(seen)}
      opens="wide"
      controls={<Views view={view} onView={setView} />}
    >
      {seen ? (
        <>
          <Keys keys={view === 'raw' ? KEYS : [...KEYS, GREY_KEY]} />
          <div className="figure-grid">
            {view === 'normed' ? null : <Flow observation={seen.item} reading="raw" />}
            {view === 'raw' ? null : <Flow observation={seen.item} reading="normed" />}
            <Norms observation={seen.item} />
          </div>
          <FigureNumbers
            id="flow-numbers"
            caption={`Entropy flow at step ${seen.step}, nats, and lengths`}
            table={() => numbers(seen.item)}
          />
        </>
      ) : null}
    </Figure>
  )
}
