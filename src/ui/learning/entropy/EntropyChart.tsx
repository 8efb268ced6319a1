// Draws the entropy of every layer's policy as lines; of a deep model those of some layers, beside
// the map that has all of them.
import { type ComponentProps, useCallback, useMemo, useSyncExternalStore } from 'react'
import { useStore } from 'zustand'
import { layerName, shortLayerName } from '../../glossary/layer_names.ts'
import { formatEntropy, formatTick } from '../../kit/format.ts'
import { lazyPart } from '../../part/lazy_part.tsx'
import { scoreSays } from '../../plot/lines/course_says.ts'
import { type Line, MetricChart } from '../../plot/MetricChart.tsx'
import { BATCH, READ, reads } from '../../plot/reads.ts'
import { layerLook } from '../../scales/palette.ts'
import { layerEntropy } from '../../shown/metrics.ts'
import { useLastLayer } from '../../shown/run.ts'
import { type UiState, uiStore } from '../../shown/store.ts'
import type { LayerPicks as Picks } from './LayerPicks.tsx'
import { layersOnChart, MOST_LINES, onPick } from './picked_layers.ts'

const selectIsDark = (state: UiState) => state.isDark

/** Few models are deep. */
const LayerPicks = lazyPart<ComponentProps<typeof Picks>>(
  async () => (await import('./LayerPicks.tsx')).LayerPicks,
  { name: 'The choice of layers', fallback: null },
)

export function EntropyChart({ height }: { readonly height: number }) {
  const last = useLastLayer()
  const isDark = useStore(uiStore, selectIsDark)
  const key = useSyncExternalStore(onPick, () => layersOnChart(last).join())
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
  const says = useCallback(
    () =>
      scoreSays(
        [{ metric: layerEntropy(last), label: 'the entropy of the final policy', isEntropy: true }],
        formatEntropy,
        ' nats',
      ),
    [last],
  )
  return (
    <MetricChart
      id="entropy-chart"
      title="Entropy of every layer’s policy"
      note={`${reads(READ.raw, BATCH)}. Nats, from 0 (certain) to ln V.`}
      lines={lines}
      says={says}
      height={height}
      formatY={formatTick}
      formatValue={formatEntropy}
      foot={last < MOST_LINES ? undefined : <LayerPicks last={last} shown={shown} />}
    />
  )
}
