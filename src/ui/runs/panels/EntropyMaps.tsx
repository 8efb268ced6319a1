// Draws the entropy of every layer over the steps, a small map for each run, on one scale.
import { type PointerEvent, useEffect, useRef, useState } from 'react'
import { layerName, shortLayerName } from '../../glossary/layer_names.ts'
import { formatNumber } from '../../kit/format.ts'
import { pointing } from '../../kit/input/pointing.ts'
import { HeatScale } from '../../plot/heat/HeatMap.tsx'
import { heatmapPixels, rowAt } from '../../plot/heat/heat.ts'
import { Readout } from '../../plot/Readout.tsx'
import { StillFigure } from '../../plot/still/StillFigure.tsx'
import { HEAT_RAMP } from '../../scales/palette.ts'
import { calledName } from '../../shown/names/called.ts'
import { useSlowFrame } from '../../shown/readout.ts'
import { type Compared, ownerOf } from '../base/compared.ts'
import { RunMark } from '../base/RunMark.tsx'
import { entropyAt, mapsOf, mapTable, type RunMap } from './entropy_maps.ts'

const FOLLOW_MS = 1000
/** Pixels of a map, scaled to its place. */
const WIDTH = 320

/** Where a person points, on all maps. */
interface Place {
  readonly step: number
  readonly layer: number
}

interface MapProps {
  readonly map: RunMap
  readonly lastStep: number
  readonly scaleMax: number
  readonly at: Place | undefined
  readonly onMove: (at: Place | undefined) => void
}

type Painted = Pick<MapProps, 'map' | 'lastStep' | 'scaleMax'>

/** Paints the rows; they grow in place, and then have another length. */
function usePainted({ map: { entry, rows }, lastStep, scaleMax }: Painted) {
  const ref = useRef<HTMLCanvasElement>(null)
  const { step } = entry.header
  const grown = rows.map((row) => row?.length).join()
  // biome-ignore lint/correctness/useExhaustiveDependencies: see above.
  useEffect(() => {
    const context = ref.current?.getContext('2d')
    if (!context) return
    const size = { width: WIDTH, x: [0, lastStep] as const, reached: step }
    const pixels = heatmapPixels(rows, size, scaleMax, HEAT_RAMP)
    context.putImageData(new ImageData(pixels, WIDTH, rows.length), 0, 0)
  }, [grown, step, lastStep, scaleMax])
  return ref
}

function EntropyMap({ map, lastStep, scaleMax, at, onMove }: MapProps) {
  const { entry, rows } = map
  const ref = usePainted({ map, lastStep, scaleMax })
  const name = calledName(entry)
  const ends = rows.flatMap((row, layer) =>
    row
      ? [`${layerName(layer, rows.length - 1)}: ${formatNumber(row.values[row.length - 1])}`]
      : [],
  )
  const move = ({ currentTarget, clientX, clientY }: PointerEvent<HTMLDivElement>) => {
    const box = currentTarget.getBoundingClientRect()
    const share = Math.min(1, Math.max(0, (clientX - box.left) / (box.width || 1)))
    const layer = rowAt(clientY - box.top, box.height || 1, rows.length)
    onMove({ step: Math.round(share * lastStep), layer })
  }
  return (
    <div className="entropy-map">
      <p className="map-name" title={name}>
        <RunMark color={entry.labels.color} /> {name}
        <b>{at ? ` ${formatNumber(entropyAt(rows, at))}` : ''}</b>
      </p>
      <div className="map-rows soft" aria-hidden="true">
        <span className="map-name">{shortLayerName(rows.length - 1, rows.length - 1)}</span>
        <span className="map-name">{shortLayerName(0)}</span>
      </div>
      <div className="map-place" {...pointing(move, () => onMove(undefined))}>
        <canvas
          ref={ref}
          width={WIDTH}
          height={rows.length}
          role="img"
          aria-label={`Entropy by layer and step of ${name}; at the end, in nats, ${ends.join(', ')}`}
        />
        {at && at.layer < rows.length ? (
          <span
            className="map-mark"
            style={{
              left: `${(100 * at.step) / lastStep}%`,
              bottom: `${(100 * at.layer) / rows.length}%`,
              height: `${100 / rows.length}%`,
            }}
          />
        ) : null}
      </div>
      <div className="map-steps soft" aria-hidden="true">
        <span className="map-name">step 0</span>
        <span className="map-name">{lastStep.toLocaleString('en')}</span>
      </div>
    </div>
  )
}

/** Nothing where no run measured its layers. */
export function EntropyMaps({ groups }: { readonly groups: readonly Compared[] }) {
  useSlowFrame(FOLLOW_MS)
  const [at, move] = useState<Place>()
  const found = mapsOf(groups)
  if (!found) return null
  const { maps, scaleMax, lastStep, stops } = found
  const top = Math.max(...maps.map(({ rows }) => rows.length)) - 1
  const place = at ?? { step: lastStep, layer: top }
  const where = `step ${place.step.toLocaleString('en')}, ${place.layer === 0 ? 'the embedding' : `layer ${place.layer}`}`
  const said = maps.map(
    ({ entry, rows }) => `${calledName(entry)} ${formatNumber(entropyAt(rows, place))}`,
  )
  return (
    <StillFigure
      id="entropy-maps"
      title="Entropy of every layer"
      note="In nats, from the embedding at the bottom to the final policy at the top, on one scale of colours for all runs. A layer below the last reads its states without the final norm: how far it is from 0 says less than how it moves."
      owner={ownerOf(groups)}
      table={(most) => mapTable(maps, most)}
    >
      {(id) => (
        <>
          <div className="flow-figures entropy-maps">
            {maps.map((map) => (
              <EntropyMap
                key={map.entry.id}
                map={map}
                lastStep={lastStep}
                scaleMax={scaleMax}
                at={at}
                onMove={move}
              />
            ))}
          </div>
          <div className="map-foot">
            <Readout
              id={`${id}-value`}
              label="Step, and layer by up and down, in “Entropy of every layer”"
              read={() => ({
                stops,
                at: at?.step,
                text: `${where}: ${said.join('; ')} nats`,
                written: `${where}, nats`,
              })}
              onMove={(step) => move(step === undefined ? undefined : { ...place, step })}
              onVertical={(by) =>
                move({ ...place, layer: Math.min(top, Math.max(0, place.layer + by)) })
              }
            />
            <HeatScale max={scaleMax} />
          </div>
        </>
      )}
    </StillFigure>
  )
}
