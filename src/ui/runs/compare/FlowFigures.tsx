// Draws the entropy changes of every block, a small figure per run, on one scale (BuPO, arXiv
// 2512.19673, figures 2 and 3).
import { useEffect, useState } from 'react'
import { useStore } from 'zustand'
import { openRun } from '../../../page/runs/library/library.ts'
import {
  type Library,
  libraryStore,
  type RunEntry,
} from '../../../page/runs/library/library_store.ts'
import { type LabState, labStore } from '../../../page/state/store.ts'
import type { KeptOfRun } from '../../../record/run/kept_run.ts'
import { formatNumber } from '../../kit/format.ts'
import { calledName } from '../../shown/names/called.ts'
import { useLab } from '../../shown/run.ts'
import { RunMark } from '../base/RunMark.tsx'
import { barsOf, type Flow, flowOf, WRITES } from './flow.ts'

const WIDTH = 360
const HEIGHT = 110
/** Left of the bars and below them, for numbers. */
const [GUTTER, FOOT] = [44, 14]
/** Blocks whose numbers have room below a figure. */
const MOST_NUMBERED = 12
const selectVersion = (state: LabState) => state.keptVersion
const selectLiving = ({ living }: Library) => living

type Flows = Readonly<Record<string, Flow | undefined>>

/** The last observation of each run that measured the changes; undefined while it is read. */
function useFlows(runs: readonly RunEntry[]): Flows | undefined {
  const living = useStore(libraryStore, selectLiving)
  const version = useLab(selectVersion)
  const [flows, setFlows] = useState<Flows>()
  const key = runs.map(({ id }) => id).join()
  // biome-ignore lint/correctness/useExhaustiveDependencies: the version says that the current run has measured again.
  useEffect(() => {
    let isOver = false
    const keptOf = async (id: string): Promise<KeptOfRun> =>
      id === living ? labStore.getState().kept : (await openRun(id)).state.kept
    const read = async (id: string) => {
      const kept = await keptOf(id).catch(() => undefined)
      return [id, kept && flowOf(kept.observations.items)] as const
    }
    void Promise.all(key.split(',').map(read)).then((all) => {
      if (!isOver) setFlows(Object.fromEntries(all))
    })
    return () => {
      isOver = true
    }
  }, [key, living, key.split(',').includes(living ?? '') ? version : 0])
  return flows
}

function Figure(props: {
  readonly flow: Flow
  readonly scale: number
  readonly entry: RunEntry
  readonly name: string
}) {
  const { flow, scale, entry, name } = props
  const said = WRITES.map(
    ({ key, label }) => `${label}: ${flow[key].map((value) => formatNumber(value)).join(', ')}`,
  ).join('. ')
  return (
    <figure className="flow-figure">
      <figcaption>
        <RunMark color={entry.labels.color} /> {name}
        <small className="soft"> step {flow.step}</small>
      </figcaption>
      <svg
        viewBox={`${-GUTTER} -5 ${GUTTER + WIDTH} ${HEIGHT + FOOT + 5}`}
        role="img"
        aria-label={`Entropy changes by block, in nats. ${said}`}
      >
        <line className="flow-zero" x1="0" x2={WIDTH} y1={HEIGHT / 2} y2={HEIGHT / 2} />
        <Axes scale={scale} blocks={flow.dH_layer.length} />
        {barsOf(flow, scale, WIDTH, HEIGHT).map(({ key, layer, x, y, width, height, value }) => (
          <rect key={`${key} ${layer}`} className={key} x={x} y={y} width={width} height={height}>
            <title>{`layer ${layer}, ${WRITES.find((write) => write.key === key)?.label}: ${formatNumber(value)} nats`}</title>
          </rect>
        ))}
      </svg>
    </figure>
  )
}

/** Nats at the left, and the blocks below. */
function Axes({ scale, blocks }: { readonly scale: number; readonly blocks: number }) {
  const each = Math.ceil(blocks / MOST_NUMBERED)
  return (
    <g className="flow-axes" aria-hidden="true">
      {[scale, 0, -scale].map((nats, i) => (
        <text key={nats} className="at-left" x={-5} y={(i * HEIGHT) / 2 + 3.5}>
          {nats > 0 ? '+' : ''}
          {formatNumber(nats)}
        </text>
      ))}
      {Array.from({ length: blocks }, (_, block) =>
        block % each === 0 ? (
          <text key={block} x={((block + 0.5) * WIDTH) / blocks} y={HEIGHT + 11}>
            {block + 1}
          </text>
        ) : null,
      )}
    </g>
  )
}

/** Nothing of logs, which have no blocks. */
export function FlowFigures({ runs }: { readonly runs: readonly RunEntry[] }) {
  const own = runs.filter(({ header }) => !header.source)
  if (own.length === 0) return null
  return (
    <>
      <h3>What each block does to the entropy</h3>
      <p className="soft">
        The parts do not add up to the whole: attention and feed-forward compare what they write
        with the normed state that they read, the whole block the states before and after it.
      </p>
      <Figures runs={own} />
    </>
  )
}

function Figures({ runs }: { readonly runs: readonly RunEntry[] }) {
  const flows = useFlows(runs)
  if (!flows) return <p className="soft">Reading …</p>
  const known = runs.flatMap((entry) => {
    const flow = flows[entry.id]
    return flow ? [{ entry, flow }] : []
  })
  const missing = runs.length - known.length
  const scale = Math.max(
    ...known.flatMap(({ flow }) => WRITES.flatMap(({ key }) => flow[key].map(Math.abs))),
    1e-6,
  )
  return (
    <div data-testid="flow-figures">
      {known.length > 0 ? (
        <>
          <ul className="flow-legend">
            {WRITES.map(({ key, label }) => (
              <li key={key}>
                <span className={`flow-key ${key}`} aria-hidden="true" /> {label}
              </li>
            ))}
            <li className="soft">nats, by block</li>
          </ul>
          <div className="flow-figures">
            {known.map(({ entry, flow }) => (
              <Figure
                key={entry.id}
                entry={entry}
                flow={flow}
                scale={scale}
                name={calledName(entry)}
              />
            ))}
          </div>
        </>
      ) : null}
      {missing > 0 ? (
        <p className="soft">
          {missing === runs.length
            ? 'None of these runs measured it. '
            : `${missing} of these runs did not measure it. `}
          A run measures entropy changes in its moments (validations, ends of phases, the end), as
          far as 5 % of its work allow, and while the tab Inside is open.
        </p>
      ) : null}
    </div>
  )
}
