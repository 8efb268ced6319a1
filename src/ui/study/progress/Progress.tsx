// Draws how far a study is: its runs, the time that is left, and what the first run that is on
// does.
import { useMemo, useRef } from 'react'
import { useStore } from 'zustand'
import { lowered } from '../../../document/experiment/form/setting_words.ts'
import type { Experiment } from '../../../document/experiment/schema/schema.ts'
import { type Estimate, estimatorStore } from '../../../page/paces/estimator.ts'
import { begunRuns } from '../../../page/study/begun_runs.ts'
import { plan, type StudyState } from '../../../page/study/study_state.ts'
import { timeToCome } from '../../../page/study/time_to_come.ts'
import { estimateWords } from '../../learning/more/estimate.ts'
import { selectIsBusy, useLab } from '../../shown/run.ts'

/** What the missing runs take on this adapter; undefined where nothing is known of it. */
export function useTimeToCome(state: StudyState): Estimate | undefined {
  const estimate = useStore(estimatorStore, (store) => store.estimate)
  const adapter = useLab((lab) => lab.adapter)
  // Most runs have not begun, and of an arm all these take the same.
  const ofArm = useMemo(() => {
    const known = new Map<Experiment, Estimate | undefined>()
    return (experiment: Experiment, step: number) => {
      if (!adapter || step > 0) return adapter && estimate(adapter, experiment, step)
      if (!known.has(experiment)) known.set(experiment, estimate(adapter, experiment))
      return known.get(experiment)
    }
  }, [estimate, adapter])
  return timeToCome(state, ofArm)
}

/** Time that is left goes up only where it is much more than was said. */
export const steady = (before: number | undefined, seconds: number): number =>
  before !== undefined && seconds > before && seconds < 1.25 * before ? before : seconds

/** '40 s', '3 min', '2 h 05 min': rounded up, as it is read while it runs down. */
export function leftWords(seconds: number): string {
  if (seconds <= 50) return `${Math.max(10, 10 * Math.ceil(seconds / 10))} s`
  const minutes = Math.ceil(seconds / 60)
  if (minutes < 60) return `${minutes} min`
  return `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, '0')} min`
}

function useLeftWords(time: Estimate | undefined): string | undefined {
  const said = useRef<number>(undefined)
  said.current = time && steady(said.current, time.seconds)
  if (!time || said.current === undefined) return undefined
  return time.isMeasured
    ? `about ${leftWords(said.current)}`
    : estimateWords({ ...time, seconds: said.current })
}

/** What the first run that is on does, as the status of a run says it. */
function Doing({ present }: Pick<StudyState, 'present'>) {
  const [run, ...more] = present
  if (!run)
    return (
      <p className="soft" data-testid="study-doing">
        preparing: opening the GPU
      </p>
    )
  const { name, step, of, waits, message } = run
  const begun = message ? lowered(message) : `step ${step} of ${of}`
  return (
    <p className="soft study-doing" data-testid="study-doing">
      <span>{name}:</span> <span>{waits ? 'waits for memory' : begun}</span>{' '}
      {more.length === 0 ? null : <span>(and {more.length} more at once)</span>}
    </p>
  )
}

/** The study's runs in a sentence and a bar, which counts the steps of runs that have
 * begun. */
export function Progress({
  state,
  time,
}: {
  readonly state: StudyState
  readonly time: Estimate | undefined
}) {
  const { study, arms, results, is_training } = state
  const present = is_training ? state.present : []
  const isBusy = useLab(selectIsBusy)
  const left = useLeftWords(is_training ? time : undefined)
  const found = study && plan(study, arms, results)
  if (!found) return null
  const total = found.known + found.runs.length
  const rest = left === undefined ? '' : `, ${left} left`
  const begun = begunRuns(state).reduce((sum, { step, of }) => sum + step / of, 0)
  return (
    <div className="study-progress">
      <p role="status" data-testid="study-progress">
        {found.known} of {total} runs{rest}
        {study?.search ? ` (${found.stage})` : ''}.
      </p>
      {is_training ? <Doing present={present} /> : null}
      {is_training && isBusy ? (
        <p className="soft" data-testid="study-shares">
          A run of yours is on as well. Both take turns on the GPU, so each of them is slower.
        </p>
      ) : null}
      {found.runs.length > 0 ? (
        <progress max={total} value={found.known + begun} aria-label="Runs that are trained" />
      ) : null}
    </div>
  )
}
