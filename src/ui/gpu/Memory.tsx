// Shows what the run holds on the GPU and what a step costs, from the device layer's own counts.
import { useStore } from 'zustand'
import { rolloutDTypeText } from '../../document/experiment/rollout_dtype.ts'
import { type ReplayState, replayStore } from '../../page/state/replay.ts'
import type { LabState } from '../../page/state/store.ts'
import { selectLacksGpu } from '../../page/state/without_gpu.ts'
import { formatCount, formatNumber } from '../kit/format.ts'
import { useLab } from '../shown/run.ts'
import { useIsPast } from '../shown/shown.ts'
import { partsLike, partsOfMemory } from './memory_words.ts'

const LABELS: Readonly<Record<string, string>> = {
  weights: 'weights',
  gradients: 'gradients',
  optimizer: 'optimizer',
  activations: 'activations',
  kv_cache: 'key-value cache',
  batch: 'batch',
  scratch: 'scratch',
  probes: 'open panels',
}

const selectMemory = (state: LabState) => state.memory
const selectCounts = (state: LabState) => state.counts
const selectPlan = ({ plan }: LabState) => plan
const selectPlanned = ({ planned_bytes }: LabState) => planned_bytes
const selectIsPlayed = ({ recording }: ReplayState) => recording !== undefined
const selectDType = (state: LabState) => state.rollout_dtype

/** What a step costs: no part of the memory, so it has no colour. */
function Work() {
  const counts = useLab(selectCounts)
  return (
    <dl className="memory-work">
      <div>
        <dt>dispatches per step, without figures and validations</dt>
        <dd>{formatNumber(counts?.dispatches_per_step)}</dd>
      </div>
      <div>
        <dt>submits per step, likewise</dt>
        <dd>{formatNumber(counts?.submits_per_step)}</dd>
      </div>
      {counts?.longest_dispatch_ms === undefined ? null : (
        <>
          <div>
            <dt>longest dispatch, whole</dt>
            <dd data-testid="longest-dispatch">{formatNumber(counts.longest_dispatch_ms)} ms</dd>
          </div>
          <div title="Dispatches that took too long run in parts, so that no watchdog thinks that the GPU hangs; the results are the same bit for bit">
            <dt>dispatches run in parts</dt>
            <dd data-testid="split-dispatches">{formatCount(counts.split_dispatches)}</dd>
          </div>
        </>
      )}
      <div>
        <dt>buffers made since warm-up</dt>
        <dd>{formatCount(counts?.buffers_since_warmup)}</dd>
      </div>
    </dl>
  )
}

/** In place of a list of dashes. */
function Nothing({ isPast }: { readonly isPast: boolean }) {
  const lacksGpu = useLab(selectLacksGpu)
  const isPlayed = useStore(replayStore, selectIsPlayed)
  return (
    <section className="card memory" aria-labelledby="memory-title" data-testid="memory">
      <h2 id="memory-title">GPU memory and work</h2>
      <p className="soft">
        {isPast
          ? 'What a run keeps on the GPU is counted while it trains, and not kept of past runs.'
          : lacksGpu
            ? isPlayed
              ? 'This recording does not hold what its run kept on the GPU.'
              : 'Where one can be trained, a run shows here what it keeps on the GPU.'
            : 'When a run begins, here stand what it keeps on the GPU, by kind, how much work a step is, and how long the stages of its steps take.'}
      </p>
    </section>
  )
}

export function Memory() {
  const memory = useLab(selectMemory)
  const isPast = useIsPast()
  const plan = useLab(selectPlan)
  const lacksGpu = useLab(selectLacksGpu)
  // What is counted is of the run of this page.
  if (memory && !isPast) return <Counted memory={memory} />
  return plan?.memory && !isPast && !lacksGpu ? (
    <Planned memory={plan.memory} />
  ) : (
    <Nothing isPast={isPast} />
  )
}

type Kinds = Readonly<Record<string, number>>

/** Before a run: what its settings will take. */
function Planned({ memory }: { readonly memory: Kinds }) {
  return (
    <section className="card memory" aria-labelledby="memory-title" data-testid="memory">
      <h2 id="memory-title">GPU memory and work</h2>
      <p className="soft" data-testid="memory-to-come">
        What a run of these settings will keep on the GPU, as planned. Once it trains, this is
        counted, and its dispatches and the time of its stages stand here too.
      </p>
      <ByKind memory={memory} />
    </section>
  )
}

/** A bar of the kinds, each as wide as its share, and its list. */
function ByKind({ memory }: { readonly memory: Kinds }) {
  const kinds = Object.entries(memory).filter(([, bytes]) => bytes > 0)
  const said = partsLike(kinds.map(([, bytes]) => bytes))
  return (
    <>
      <div className="memory-bar" aria-hidden="true">
        {kinds.map(([kind, bytes]) => (
          <span key={kind} data-kind={kind} style={{ flexGrow: bytes }} />
        ))}
      </div>
      <dl>
        <div className="total">
          <dt>in all</dt>
          <dd data-testid="memory-total">{said.whole}</dd>
        </div>
        {kinds.map(([kind], i) => (
          <div key={kind}>
            <dt data-kind={kind}>{LABELS[kind] ?? kind}</dt>
            <dd>{said.parts[i]}</dd>
          </div>
        ))}
      </dl>
    </>
  )
}

function Counted({ memory }: { readonly memory: NonNullable<LabState['memory']> }) {
  const rolloutDtype = useLab(selectDType)
  const planned = useLab(selectPlanned)
  const total = Object.values(memory).reduce((sum, bytes) => sum + bytes, 0)
  return (
    <section className="card memory" aria-labelledby="memory-title" data-testid="memory">
      <h2 id="memory-title">GPU memory and work</h2>
      <ByKind memory={memory} />
      {planned === undefined || planned >= total ? null : (
        <p className="soft" data-testid="memory-planned">
          {partsOfMemory({ total, planned, panels: memory.probes ?? 0 })}
        </p>
      )}
      <Work />
      {rolloutDtype === undefined ? null : (
        <p
          className={rolloutDtype.dtype === 'float16' ? 'soft' : 'remark'}
          data-testid="rollout-dtype"
        >
          {rolloutDTypeText(rolloutDtype)}
        </p>
      )}
    </section>
  )
}
