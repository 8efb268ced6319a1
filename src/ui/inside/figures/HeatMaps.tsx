// Shows the heat maps of internal quantities over layers.
import { formatNumber } from '../../kit/format.ts'
import { FigureNumbers } from '../../plot/files/FigureNumbers.tsx'
import type { NumberTable } from '../../plot/files/number_table.ts'
import { HeatScale } from '../../plot/heat/HeatMap.tsx'
import { READ } from '../../plot/reads.ts'
import { useLastLayer } from '../../shown/run.ts'
import { shownStore } from '../../shown/shown.ts'
import { useVocabulary } from '../../shown/vocabulary.ts'
import { changedSays } from '../base/answers.ts'
import type { Seen } from '../base/observed.ts'
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
      `${layer}`,
      ...MAPS.map((map) => formatNumber(valuesOf(map, item.mean)?.[layer - map.first])),
    ]),
  }
}

export function HeatMaps() {
  const state = useFigure('heat', GROUPS, QUANTITIES)
  const { max_entropy } = useVocabulary()
  const lastLayer = useLastLayer()
  const { seen } = state
  return (
    <Figure
      id="heat"
      title="Entropy maps, layer × step"
      how={READ.both}
      note="One column per kept step; stripes hold its colour where nothing was measured before the next. Dark is certain, bright undecided, on one scale for all four. Old steps are thinned out, so what changes within a few early steps may be missing, and a raw map mixes what a state says with how long it is. In the normed map the embedding is grey; the top row of both is the final policy."
      state={state}
      opens="wide"
      says={seen && changedSays(shownStore.getState().kept.observations.items, seen)}
    >
      {seen ? (
        <>
          <div className="figure-grid two">
            {MAPS.map((map) => (
              <KeptHeatMap
                key={map.id}
                map={map}
                lastLayer={lastLayer}
                isVisible={state.isVisible}
              />
            ))}
          </div>
          <HeatScale max={max_entropy} words=", all tokens alike" />
          <FigureNumbers
            id="heat-numbers"
            caption={`Entropies at step ${seen.step}, nats`}
            table={() => numbers(seen, lastLayer)}
          />
        </>
      ) : null}
    </Figure>
  )
}
