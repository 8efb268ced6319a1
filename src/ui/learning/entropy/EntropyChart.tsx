// Draws the entropy of every layer's policy as lines; of a deep model those of some layers, beside
// the map that has all of them.
import { useCallback, useMemo, useSyncExternalStore } from 'react'
import { useStore } from 'zustand'
import { layerName, shortLayerName } from '../../glossary/layer_names.ts'
import { formatNumber, formatTick } from '../../kit/format.ts'
import { scoreSays } from '../../plot/lines/course_says.ts'
import { type Line, MetricChart } from '../../plot/MetricChart.tsx'
import { BATCH, READ, reads } from '../../plot/reads.ts'
import { depthColor, layerDash } from '../../scales/palette.ts'
import { layerEntropy } from '../../shown/metrics.ts'
import { useLastLayer } from '../../shown/run.ts'
import { type UiState, uiStore } from '../../shown/store.ts'
import { layersOnChart, MOST_LINES, onPick, togglePick } from './picked_layers.ts'

const selectIsDark = (state: UiState) => state.isDark

/** A button for every layer of a deep model. */
function LayerPicks(props: { readonly last: number; readonly shown: readonly number[] }) {
  const { last, shown } = props
  return (
    <fieldset className="layer-picks" data-testid="layer-picks">
      <legend className="soft">Lines of layers, at most {MOST_LINES}; the map has all</legend>
      {Array.from({ length: last + 1 }, (_, layer) => (
        <button
          key={layer}
          type="button"
          className="plain"
          aria-pressed={shown.includes(layer)}
          aria-label={`Line of ${layerName(layer, last)}`}
          onClick={() => togglePick(layer, last)}
        >
          {layer}
        </button>
      ))}
    </fieldset>
  )
}

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
        color: layer === last ? '--ink' : depthColor(layer, last - 1, isDark),
        width: layer === last ? 2.5 : 1.4,
        dash: layer === last ? [] : layerDash(layer),
      })),
    [shown, last, isDark],
  )
  const says = useCallback(
    () =>
      scoreSays([{ metric: layerEntropy(last), label: 'the final policy' }], formatNumber, ' nats'),
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
      formatValue={formatNumber}
      foot={last < MOST_LINES ? undefined : <LayerPicks last={last} shown={shown} />}
    />
  )
}
