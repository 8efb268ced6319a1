// The entropy of every layer over the steps, a small map for each run, on one scale.
import { useEffect, useRef } from 'react'
import type { RunEntry } from '../../../page/runs/library/library.ts'
import { runName } from '../../../record/run/names.ts'
import { formatNumber } from '../../kit/format.ts'
import { heatmapPixels } from '../../plot/heat/heat.ts'
import type { Columns } from '../../scales/columns.ts'
import { extentOf } from '../../scales/extent.ts'
import { HEAT_RAMP } from '../../scales/palette.ts'
import { layerEntropy } from '../../shown/metrics.ts'
import { useSlowFrame } from '../../shown/readout.ts'
import { columnsOf } from '../compare/compared.ts'
import { RunMark } from '../RunMark.tsx'

const FOLLOW_MS = 1000
/** Pixels of a map, scaled to its place. */
const WIDTH = 320

type Rows = readonly (Columns | undefined)[]

/** From the embedding to the final policy; undefined where no layer was measured. */
function rowsOf(entry: RunEntry): Rows | undefined {
  const columns = columnsOf(entry.id)
  const layers = entry.header.experiment.model.num_hidden_layers + 1
  const rows = Array.from({ length: layers }, (_, l) => columns?.get(layerEntropy(l)))
  return rows.some((row) => row !== undefined && row.length > 0) ? rows : undefined
}

interface MapProps {
  readonly entry: RunEntry
  readonly rows: Rows
  readonly last_step: number
  readonly scale_max: number
}

function EntropyMap({ entry, rows, last_step, scale_max }: MapProps) {
  const ref = useRef<HTMLCanvasElement>(null)
  const grown = rows.map((row) => row?.length).join()
  // biome-ignore lint/correctness/useExhaustiveDependencies: rows grow in place, and then have another length.
  useEffect(() => {
    const context = ref.current?.getContext('2d')
    if (!context) return
    const size = { width: WIDTH, x: [0, last_step] as const }
    const pixels = heatmapPixels(rows, size, scale_max, HEAT_RAMP)
    context.putImageData(new ImageData(pixels, WIDTH, rows.length), 0, 0)
  }, [grown, last_step, scale_max])
  const { name } = runName(entry)
  const ends = rows.flatMap((row, layer) =>
    row ? [`layer ${layer}: ${formatNumber(row.values[row.length - 1])}`] : [],
  )
  return (
    <figure className="entropy-map">
      <figcaption>
        <RunMark color={entry.labels.color} /> {name}
      </figcaption>
      <canvas
        ref={ref}
        width={WIDTH}
        height={rows.length}
        role="img"
        aria-label={`Entropy by layer and step of ${name}; at the end, in nats, ${ends.join(', ')}`}
      />
    </figure>
  )
}

/** Nothing where no run measured its layers. */
export function EntropyMaps({ runs }: { readonly runs: readonly RunEntry[] }) {
  useSlowFrame(FOLLOW_MS)
  const maps = runs.flatMap((entry) => {
    const rows = rowsOf(entry)
    return rows ? [{ entry, rows }] : []
  })
  if (maps.length === 0) return null
  const known = maps.flatMap(({ rows }) => rows.flatMap((row) => (row?.length ? [row] : [])))
  const scale_max = Math.max(...known.map((row) => extentOf(row)[1]), 1e-6)
  const last_step = Math.max(...known.map(({ steps, length }) => steps[length - 1]), 1)
  return (
    <>
      <h3>Entropy of every layer</h3>
      <p className="soft">
        From the embedding at the bottom to the final policy at the top, step 0 to {last_step}. Dark
        is certain; the brightest is {formatNumber(scale_max)} nats on every map.
      </p>
      <div className="flow-figures" data-testid="entropy-maps">
        {maps.map((map) => (
          <EntropyMap key={map.entry.id} {...map} last_step={last_step} scale_max={scale_max} />
        ))}
      </div>
    </>
  )
}
