// Shows the sender's result, which came with the link: its end values, and the way to take it off
// the charts.
import { X } from 'lucide-react'
import { useCallback, useMemo } from 'react'
import { useStore } from 'zustand'
import { sameSettings } from '../../document/experiment/experiment.ts'
import { plannedStretches } from '../../document/experiment/steered/planned.ts'
import { GREEDY_ACCURACY, lastOf, type SharedResult } from '../../document/links/shared_result.ts'
import { decodeSummary, encodeSummary } from '../../document/links/summary.ts'
import { nextExperiment } from '../../page/state/next_experiment.ts'
import { replayStore } from '../../page/state/replay.ts'
import { resultOf } from '../../page/state/result.ts'
import { type ShareState, shareStore } from '../../page/state/share_store.ts'
import type { LabState } from '../../page/state/store.ts'
import { formatCount, formatNumber, formatShare } from '../kit/format.ts'
import { selectIsReplaying } from '../open/replays.ts'
import { layerEntropy, REWARD, TASK_SCORE } from '../shown/metrics.ts'
import { useLab } from '../shown/run.ts'
import { dismissResult } from './page_view.ts'

const selectResult = (state: ShareState) => state.result
const selectOf = (state: ShareState) => state.experiment

/** Whether a run that is over came to all values of a result, whatever adapter it ran on. */
export function isIdentical(state: LabState, { adapter, steps, lines }: SharedResult): boolean {
  const own = state.status === 'finished' && state.step === steps ? resultOf(state) : undefined
  // As a link would tell it: with so many digits.
  const told = own && decodeSummary(encodeSummary({ ...own, adapter })).result
  return told !== undefined && JSON.stringify(told.lines) === JSON.stringify(lines)
}

export function Reference() {
  const result = useStore(shareStore, selectResult)
  const of = useStore(shareStore, selectOf)
  const shown = useLab(nextExperiment)
  const isReplaying = useStore(replayStore, selectIsReplaying)
  const isOther = useMemo(() => !sameSettings(shown, of), [shown, of])
  const isSame = useLab(
    useCallback((state: LabState) => !!result && isIdentical(state, result), [result]),
  )
  if (!result || isReplaying) return null
  const entropy = lastOf(result, layerEntropy(of.model.num_hidden_layers))
  const planned = plannedStretches(of, of.steering).at(-1)?.to ?? 0
  const taskScore = lastOf(result, TASK_SCORE)
  const ends = [
    taskScore === undefined
      ? { name: 'reward, sampled', value: lastOf(result, REWARD), format: formatShare }
      : { name: 'task score, sampled', value: taskScore, format: formatShare },
    { name: 'held-out, greedy', value: lastOf(result, GREEDY_ACCURACY), format: formatShare },
    {
      name: 'final entropy',
      value: entropy,
      format: (value: number | undefined) => `${formatNumber(value)} nats`,
    },
  ].filter(({ value }) => value !== undefined)
  return (
    <section className="card reference" aria-label="Sender’s result" data-testid="reference">
      <div>
        <h2>The sender’s result</h2>
        <p className="soft">
          {planned > result.steps
            ? `${formatCount(result.steps)} of ${formatCount(planned)} planned steps on ${result.adapter}.`
            : `${formatCount(result.steps)} steps on ${result.adapter}.`}{' '}
          Its curves came with the link and are drawn in grey behind yours.
          {isOther
            ? ' They belong to the experiment that the link opened; yours is a different one now.'
            : isSame
              ? ' Yours is identical in every value that the link holds.'
              : ''}
        </p>
      </div>
      <dl>
        {ends.map(({ name, value, format }) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{format(value)}</dd>
          </div>
        ))}
      </dl>
      <button
        type="button"
        className="plain"
        aria-label="Take the sender’s result off the charts"
        data-testid="dismiss-reference"
        onClick={dismissResult}
      >
        <X className="icon" aria-hidden="true" />
      </button>
    </section>
  )
}
