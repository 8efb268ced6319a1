// Remembers in this browser how fast runs and adapters were, so that the next run can say how long
// it will take.
import * as z from 'zod/mini'
import { PHASE_KINDS } from '../../document/experiment/fields/phases.ts'
import { adapterName } from '../../document/links/names.ts'
import { takesTurns } from '../client/starting.ts'
import { onLabEvent } from '../connection/connection.ts'
import { remembered } from '../state/remembered.ts'
import { isReplaying } from '../state/replay.ts'
import { type LabState, labStore } from '../state/store.ts'
import { estimatorStore } from './estimator.ts'
import { expectedSeconds, type Ratios, ratiosOf, startSeconds } from './expected.ts'
import { estimateOf, type RunPaces, withRun } from './paces.ts'
import { probeAtRest } from './probe_at_rest.ts'
import { StartClock } from './start_clock.ts'

const ms = z.number().check(z.minimum(0))
const storedRuns = z.array(
  z.object({
    adapter: z.string(),
    settings: z.string(),
    phases: z.array(
      z.object({
        kind: z.enum(PHASE_KINDS),
        cost: z.string(),
        pace: z.object({ step_ms: ms, validation_ms: z.optional(ms) }),
      }),
    ),
  }),
)
/** By the adapter's name. */
const storedSpeeds = z.record(
  z.string(),
  z.object({
    dispatch_ms: ms,
    round_ms: ms,
    gflops: z.number().check(z.positive()),
    compile_ms: ms,
    /** From Train to the first step of a page's first run, as measured. */
    start_ms: z.optional(ms),
  }),
)
type Speeds = z.infer<typeof storedSpeeds>

const keptRuns = remembered('paces', storedRuns, [])
const keptSpeeds = remembered('speeds', storedSpeeds, {})

let runs: readonly RunPaces[] = []
let speeds: Speeds = {}
const clock = new StartClock()
/** What is kept has been read. Until then a run must not be added: it would overwrite it. */
let isFollowing = false

const startOf = (speed: Speeds[string]): number =>
  speed.start_ms === undefined ? startSeconds(speed) : speed.start_ms / 1000

/** From now on estimates are made of what is known now. */
function tell(): void {
  const [ownRuns, ownSpeeds, hasCompiled] = [runs, speeds, clock.isOver]
  const ratios: Record<string, Ratios> = {}
  estimatorStore.setState({
    estimate: (facts, experiment, step) => {
      const adapter = adapterName(facts)
      const measured = estimateOf(ownRuns, adapter, experiment, step)
      const speed = ownSpeeds[adapter]
      const start = speed && !hasCompiled && !step ? startOf(speed) : 0
      if (measured !== undefined) return { seconds: start + measured, start, isMeasured: true }
      if (!speed) return undefined
      ratios[adapter] ??= ratiosOf(
        ownRuns.filter((run) => run.adapter === adapter),
        speed,
      )
      const seconds = expectedSeconds(experiment, speed, ratios[adapter], step)
      return { seconds: start + seconds, start, isMeasured: false }
    },
  })
}

function remember(state: LabState): void {
  const { adapter } = state
  // A recording has another machine's speed, and a run that takes turns waits for the other one.
  if (!adapter || isReplaying() || takesTurns()) return
  rememberRun(adapterName(adapter), state)
}

/** Adds what the steps of a run tell, by the name of its adapter. */
export function rememberRun(adapter: string, run: Pick<LabState, 'runExperiment' | 'gaps'>): void {
  if (!isFollowing) return
  const now = withRun(runs, adapter, run)
  if (now === runs) return
  clock.isOver = true
  runs = now
  tell()
  keptRuns.set(storedRuns.parse(now))
}

/** Reads what is known, adds every run when it pauses, ends or is left, and has an adapter probed
 * that is new here. To be called once per page. */
export function followPaces(): void {
  runs = keptRuns.get() as readonly RunPaces[]
  speeds = keptSpeeds.get()
  tell()
  isFollowing = true
  labStore.subscribe((now, before) => {
    if (now.status !== before.status) followStart(now)
    if (before.status !== 'running') return
    if (now.run !== before.run) remember(before)
    else if (now.status !== 'running') remember(now)
  })
  // Once the run is continued, the steps before are not timed any more.
  addEventListener('pagehide', () => remember(labStore.getState()))
  onLabEvent((event) => {
    const { adapter } = labStore.getState()
    if (event.type !== 'speed' || !adapter || isReplaying()) return
    keep(adapterName(adapter), event.speed)
  })
  probeAtRest((adapter) => speeds[adapterName(adapter)] !== undefined)
}

/** Adds what is known of an adapter's speed. */
function keep(adapter: string, more: Partial<Speeds[string]>): void {
  speeds = { ...speeds, [adapter]: { ...speeds[adapter], ...more } }
  tell()
  keptSpeeds.set(speeds)
}

function followStart({ status, adapter }: LabState): void {
  if (clock.isOver || isReplaying() || takesTurns()) return
  const start_ms = clock.hear(status, performance.now())
  const name = adapter && adapterName(adapter)
  if (start_ms !== undefined && name && speeds[name]) keep(name, { start_ms })
  else if (clock.isOver) tell()
}
