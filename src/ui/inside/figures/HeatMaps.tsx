// Shows the heat maps of internal quantities over layers.
import type { LabState } from '../../../page/state/store.ts'
import { layerName } from '../../glossary/layer_names.ts'
import { formatNumber } from '../../kit/format.ts'
import { useNextObserved } from '../../look/next_observed.ts'
import { FigureNumbers } from '../../plot/files/FigureNumbers.tsx'
import type { NumberTable } from '../../plot/files/number_table.ts'
import { HeatScale } from '../../plot/heat/HeatMap.tsx'
import { READ } from '../../plot/reads.ts'
import { useSlowFrame } from '../../shown/readout.ts'
import { shownExperiment, useLastLayer } from '../../shown/run.ts'
import { shownStore, useAtStep, useShown } from '../../shown/shown.ts'
import { useVocabulary } from '../../shown/vocabulary.ts'
import { changedSays } from '../base/answers.ts'
import { hasCourse, isOneMoment } from '../base/history.ts'
import type { Seen } from '../base/observed.ts'
import { momentSays } from '../base/says.ts'
import { ATTENTION, FEED_FORWARD, STATE } from '../charts/colors.ts'
import { MomentChart } from '../charts/MomentChart.tsx'
import { Figure } from '../frame/Figure.tsx'
import { useFigure } from '../frame/use_figure.ts'
import { type HeatKind, KeptHeatMap, valuesOf } from './HeatMap.tsx'

const GROUPS = ['entropy'] as const
const QUANTITIES = ['ent_layer_raw', 'ent_layer_norm'] as const
const MAPS: readonly HeatKind[] = [
  { id: 'heat-raw', title: 'Layer policies: raw state', quantity: 'ent_layer_raw', first: 0 },
  {
    id: 'heat-normed',
    title: 'Layer policies: normed state',
    quantity: 'ent_layer_norm',
    first: 0,
    isGrey: true,
  },
  { id: 'heat-attention', title: 'Attention’s writes', quantity: 'ent_attn_out', first: 1 },
  { id: 'heat-feed-forward', title: 'Feed-forward’s writes', quantity: 'ent_ffn_out', first: 1 },
]

function numbers({ item }: Seen, lastLayer: number): NumberTable {
  return {
    columns: ['layer', ...MAPS.map(({ title }) => title)],
    rows: Array.from({ length: lastLayer + 1 }, (_, layer) => [
      layerName(layer, lastLayer),
      ...MAPS.map((map) => formatNumber(valuesOf(map, item.mean)?.[layer - map.first])),
    ]),
  }
}

const ZERO: readonly number[] = [0]
const MOMENT_LINES = [
  { label: 'raw state', color: STATE, map: MAPS[0] },
  { label: 'normed state', color: STATE, dash: [2, 3], map: MAPS[1] },
  { label: 'attention’s write', color: ATTENTION, dash: [5, 3], map: MAPS[2] },
  { label: 'feed-forward’s write', color: FEED_FORWARD, dash: [9, 3], map: MAPS[3] },
]

/** All maps in one chart, where each would have one column. */
function OneMoment({ seen, lastLayer }: { readonly seen: Seen; readonly lastLayer: number }) {
  return (
    <MomentChart
      id="heat-moment"
      title={`Layer policies and writes at step ${seen.step}`}
      last={lastLayer}
      lines={MOMENT_LINES.flatMap(({ map, ...look }) => {
        const values = valuesOf(map, seen.item.mean)
        return values ? [{ ...look, first: map.first, values }] : []
      })}
      must={ZERO}
    />
  )
}

const ONE_NOTE =
  'How undecided every layer’s policy is, and beside it what its attention and its feed-forward write. Normed states and writes were looked at in one moment of this run: a run looks at itself for at most 5 % of its work, which allows a short one few moments, and at what is in view while it trains. A raw state also looks surer where it is longer. Looking at another kept state below adds a moment.'
const MAPS_NOTE =
  'One column per step; hatched where nothing was measured: raw states are measured in each step of the probe, the others where this figure was in view, and in a run’s moments. Bright is certain, dark undecided, on one scale for all four. Old steps are thinned out, so what changes within a few early steps may be missing, and a raw map mixes what a state says with how long it is. In the normed map the row “emb” is grey: the final norm stretches the embedding to a length it never had. The top row of both is the final policy.'

const SAYS_MS = 1000
const selectKept = ({ kept }: LabState) => kept.observations

/** What has changed so far; columns grow without rendering. */
function Changed({ lastLayer }: { readonly lastLayer: number }) {
  useSlowFrame(SAYS_MS)
  return <>{changedSays(shownStore.getState().kept.observations, useAtStep(), lastLayer)}</>
}

const selectProbe = (state: LabState) => shownExperiment(state).probe.freq ?? 1

/** Of which steps the maps are, where the raw states have more than the others: those of the probe,
 * which is in every step or in one of `freq`. */
const stepsWords = (words: string, freq: number): string =>
  freq === 1
    ? `Raw states: every step. Normed states and writes: ${words}`
    : `Raw states: every ${freq} steps. Normed states and writes: ${words}`

export function HeatMaps() {
  const state = useFigure('heat', GROUPS, QUANTITIES)
  const lastLayer = useLastLayer()
  const { seen, awaits } = state
  const { items } = useShown(selectKept)
  const isOfMetrics = useShown(hasCourse)
  const freq = useShown(selectProbe)
  // While more moments come, the maps keep their places.
  const isOn = useNextObserved() !== undefined
  const isOne = !(isOn && isOfMetrics) && isOneMoment(items, QUANTITIES)
  const hasMaps = isOfMetrics || (seen !== undefined && !isOne)
  return (
    <Figure
      id="heat"
      title={
        isOne && !isOfMetrics
          ? 'Entropy of every layer in one moment'
          : 'Entropy maps, layer × step'
      }
      how={READ.both}
      note={isOne ? ONE_NOTE : MAPS_NOTE}
      state={{
        ...state,
        isEmpty: state.isEmpty && !isOfMetrics,
        words: isOfMetrics ? stepsWords(state.words, freq) : state.words,
      }}
      opens="wide"
      says={
        isOfMetrics || (seen && !isOne) ? (
          <Changed lastLayer={lastLayer} />
        ) : (
          seen && momentSays(seen)
        )
      }
    >
      {hasMaps ? (
        <Maps
          maps={isOne || !(seen || awaits) ? MAPS.slice(0, 1) : MAPS}
          lastLayer={lastLayer}
          isVisible={state.isVisible}
        />
      ) : null}
      {seen && isOne ? <OneMoment seen={seen} lastLayer={lastLayer} /> : null}
      {seen ? (
        <FigureNumbers
          id="heat-numbers"
          caption={`Entropies at step ${seen.step}, nats`}
          table={() => numbers(seen, lastLayer)}
        />
      ) : null}
    </Figure>
  )
}

const GREY_WORDS =
  'Grey: the embedding through the final norm, which stretches it to a length it never had.'

function Maps(props: {
  readonly maps: readonly HeatKind[]
  readonly lastLayer: number
  readonly isVisible: boolean
}) {
  const { maps, ...rest } = props
  const { max_entropy } = useVocabulary()
  return (
    <>
      <div className={maps.length === 1 ? 'figure-grid' : 'figure-grid two'}>
        {maps.map((map) => (
          <KeptHeatMap key={map.id} map={map} {...rest} />
        ))}
      </div>
      <HeatScale max={max_entropy} saysLeast words=", all tokens alike" />
      {maps.some(({ isGrey }) => isGrey) ? <p className="soft">{GREY_WORDS}</p> : null}
    </>
  )
}
