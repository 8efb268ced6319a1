// Draws the entropy of every layer's policy as lines; of a deep model those of some layers, beside
// the map that has all of them, and of a log of another trainer the one that it has.
import { type ComponentProps, useMemo, useSyncExternalStore } from 'react'
import { useStore } from 'zustand'
import { layerName, shortLayerName } from '../../glossary/layer_names.ts'
import { formatEntropy, formatTick } from '../../kit/format.ts'
import { lazyPart } from '../../part/lazy_part.tsx'
import { scoreSays } from '../../plot/lines/course_says.ts'
import { type Line, MetricChart } from '../../plot/MetricChart.tsx'
import { ofProbe, READ, reads } from '../../plot/reads.ts'
import { layerLook } from '../../scales/palette.ts'
import { finalEntropy, LOGGED_ENTROPY, layerEntropy } from '../../shown/metrics.ts'
import { selectProbeRows, useLastLayer } from '../../shown/run.ts'
import { useIsImported, useShown } from '../../shown/shown.ts'
import { type UiState, uiStore } from '../../shown/store.ts'
import type { LayerPicks as Picks } from './LayerPicks.tsx'
import { layersOnChart, MOST_LINES, onPick } from './picked_layers.ts'

const selectIsDark = (state: UiState) => state.isDark

/** Few models are deep. */
const LayerPicks = lazyPart<ComponentProps<typeof Picks>>(
  async () => (await import('./LayerPicks.tsx')).LayerPicks,
  { name: 'The choice of layers', fallback: null },
)

interface Props {
  readonly height: number
}

const saysOf = (metric: string, label: string) => () =>
  scoreSays([{ metric, label, isEntropy: true }], formatEntropy, ' nats')

const LOGGED: readonly Line[] = [
  { metric: LOGGED_ENTROPY, label: 'policy', color: '--ink', width: 2.5 },
]
const loggedSays = saysOf(LOGGED_ENTROPY, 'the entropy of the policy')

/** Other trainers measure the whole model alone. */
const LoggedEntropy = ({ height }: Props) => (
  <MetricChart
    id="entropy-chart"
    title="Entropy of the policy"
    note="As logged. Nats, from 0 (certain) to ln V."
    lines={LOGGED}
    says={loggedSays}
    height={height}
    formatY={formatTick}
    formatValue={formatEntropy}
  />
)

export function EntropyChart({ height }: Props) {
  const last = useLastLayer()
  const isImported = useIsImported()
  const isLogged = useShown(
    ({ series }) => isImported && finalEntropy(last, series) === LOGGED_ENTROPY,
  )
  return isLogged ? <LoggedEntropy height={height} /> : <LayerEntropies height={height} />
}

function LayerEntropies({ height }: Props) {
  const last = useLastLayer()
  const rows = useShown(selectProbeRows)
  const isDark = useStore(uiStore, selectIsDark)
  const picked = () => layersOnChart(last).join()
  const key = useSyncExternalStore(onPick, picked, picked)
  const shown = useMemo(() => (key === '' ? [] : key.split(',').map(Number)), [key])
  const lines = useMemo<readonly Line[]>(
    () =>
      shown.map((layer) => ({
        metric: layerEntropy(layer),
        label: layerName(layer, last),
        ...(layer === last || layer === 0 ? { short: shortLayerName(layer, last) } : {}),
        ...layerLook(layer, last, isDark),
        width: layer === last ? 2.5 : 1.4,
        // Of many words it stays near ln V, and the layers that learn lie far below.
        mayLeave: layer === 0,
      })),
    [shown, last, isDark],
  )
  const says = useMemo(() => saysOf(layerEntropy(last), 'the entropy of the final policy'), [last])
  return (
    <MetricChart
      id="entropy-chart"
      title="Entropy of every layer’s policy"
      note={`${reads(READ.raw, ofProbe(rows))}. Nats, from 0 (certain) to ln V.`}
      lines={lines}
      says={says}
      height={height}
      formatY={formatTick}
      formatValue={formatEntropy}
      foot={last < MOST_LINES ? undefined : <LayerPicks last={last} shown={shown} />}
    />
  )
}
