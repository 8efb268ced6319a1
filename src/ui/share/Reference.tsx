// Shows the sender's result, which came with the link: its end values, and the way to take it off
// the charts.
import { X } from 'lucide-react'
import { useCallback, useMemo } from 'react'
import { useStore } from 'zustand'
import { sameSettings } from '../../document/experiment/experiment.ts'
import { plannedStretches } from '../../document/experiment/steered/planned.ts'
import { lastOf, type SharedResult } from '../../document/links/shared_result.ts'
import { decodeSummary, encodeSummary } from '../../document/links/summary.ts'
import { nextExperiment } from '../../page/state/next_experiment.ts'
import { replayStore } from '../../page/state/replay.ts'
import { resultOf } from '../../page/state/result.ts'
import { type ShareState, shareStore } from '../../page/state/share_store.ts'
import type { LabState } from '../../page/state/store.ts'
import { formatCount, formatNumber, formatShare } from '../kit/format.ts'
import { selectIsReplaying } from '../open/replays.ts'
import { askedWords, mainMetric } from '../shown/measure/main_measure.ts'
import { layerEntropy, REWARD, TASK_SCORE } from '../shown/metrics.ts'
import { useLab } from '../shown/run.ts'
import { dismissResult } from './page_view.ts'
import { rewardFormat, sentEnd } from './sent_measure.ts'

const selectResult = (state: ShareState) => state.result
const selectOf = (state: ShareState) => state.experiment

/** Whether a run that is over came to all values of a result, whatever adapter it ran on. */
export function isIdentical(state: LabState, { adapter, steps, lines }: SharedResult): boolean {
  const own =
    state.status === 'finished' && state.step === steps ? resultOf(state, mainMetric) : undefined
  // As a link would tell it: with so many digits.
  const told = own && decodeSummary(encodeSummary({ ...own, adapter })).result
  // A link made before may lack a line that is told now.
  const same = told?.lines.filter(({ name }) => lines.some((line) => line.name === name))
  return same !== undefined && JSON.stringify(same) === JSON.stringify(lines)
}

const told = (value: number | undefined, format: (value: number) => string) =>
  value === undefined ? undefined : format(value)

/** What was measured on problems that the run never trains on. */
const heldOutName = ({ asked, isReward }: NonNullable<ReturnType<typeof sentEnd>>): string =>
  asked
    ? `held-out ${askedWords(asked)}, sampled`
    : isReward
      ? 'held-out reward, sampled'
      : 'held-out, greedy'

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
  const heldOut = sentEnd(result, of)
  const ends = [
    taskScore === undefined
      ? { name: 'reward, sampled', value: told(lastOf(result, REWARD), rewardFormat(of)) }
      : { name: 'task score, sampled', value: told(taskScore, formatShare) },
    { name: heldOut ? heldOutName(heldOut) : '', value: heldOut?.text },
    { name: 'final entropy', value: told(entropy, (value) => `${formatNumber(value)} nats`) },
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
        {ends.map(({ name, value }) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
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
