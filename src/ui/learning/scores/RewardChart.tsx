// Draws what a run is trained on and what it comes to on problems that it never trains on, and says
// in a sentence how that went.
import { useCallback, useMemo } from 'react'
import { useStore } from 'zustand'
import type { LabState } from '../../../page/state/store.ts'
import { formatNumber, formatPercent, formatShare, formatTick } from '../../kit/format.ts'
import { boundsOf } from '../../plot/chart_lines.ts'
import { scoreSays } from '../../plot/lines/course_says.ts'
import { type Line, MetricChart } from '../../plot/MetricChart.tsx'
import { SAMPLED_SMOOTHING } from '../../scales/smooth.ts'
import { mainMeasure, posedWords, toldWords } from '../../shown/measure/main_measure.ts'
import { isShare as isShareOf, SHARE, WHOLE } from '../../shown/measure/score_share.ts'
import { foreignHeldOut, REWARD, sampledAccuracy, TASK_SCORE } from '../../shown/metrics.ts'
import { useOverlays } from '../../shown/overlays.ts'
import { hasRewardPhase, shownExperiment } from '../../shown/run.ts'
import { shownStore, useLog, useShown } from '../../shown/shown.ts'
import { uiStore } from '../../shown/store.ts'
import { foreignLines, foreignMeans } from './foreign_lines.ts'
import { logNote, ownScoreHelp, scoreNote } from './reward_words.ts'

/** What a run of another trainer has of these, one a line: its reward and its held-out means; '' of
 * a run with the lab's own accuracy. */
function selectForeign(state: LabState): string {
  const { series } = state
  if (series.has(mainMeasure(shownExperiment(state)).metric)) return ''
  const means = foreignMeans(series.keys()).map(({ metric }) => metric)
  return [...(series.has(REWARD) ? [REWARD] : []), ...means].join('\n')
}

/** The metric of sampled held-out answers; undefined where none are sampled. */
function selectSampled(state: LabState): string | undefined {
  const { task, validation } = shownExperiment(state)
  const own = validation.n > 0 ? sampledAccuracy(task.id, validation.n) : undefined
  if (own !== undefined && state.series.has(own)) return own
  return foreignHeldOut(state.series.keys())[0] ?? own
}

/** A line, and how the sentence above the chart calls it. */
interface Told extends Line {
  readonly says: string
  /** How many answers a step of it is of, where that is known. */
  readonly answers?: number
  /** These are few. */
  readonly isSampled?: boolean
}

type Experiment = ReturnType<typeof shownExperiment>

/** Of the responses that are trained on. */
function trained({ rollout }: Experiment, hasRewardModel: boolean): Told {
  const of = hasRewardModel
    ? {
        metric: TASK_SCORE,
        label: 'task score, sampled',
        short: 'score',
        help: 'Mean of the task’s own score of the sampled responses; training sees the reward model’s',
      }
    : {
        metric: REWARD,
        label: 'reward, sampled',
        short: 'reward',
        help: 'Mean score of the responses sampled for training. Few are sampled in a step, so the line is smoothed with weight 0.8, and what was measured lies faintly behind it',
      }
  return {
    ...of,
    color: '--series-1',
    width: 1.75,
    smooth: SAMPLED_SMOOTHING,
    says: 'the mean score of samples',
    answers: rollout.train_batch_size * rollout.n,
    isSampled: true,
  }
}

const MAIN = { color: '--series-2', width: 2, dash: [9, 3], dots: true }
const BESIDE = { color: '--series-3', dash: [2, 3], dots: true }

/** Of held-out problems: what a run is told by, and beside it what the task says of samples. */
function heldOut(experiment: Experiment, sampled: string | undefined): readonly Told[] {
  const { validation, task } = experiment
  const measure = mainMeasure(experiment)
  const { metric } = measure
  const words = toldWords(measure)
  const answers = validation.prompts * Math.max(1, validation.n)
  if (words !== undefined) {
    const posed = posedWords(task)
    const help = measure.isReward
      ? `Mean reward of the sampled answers to ${validation.prompts} held-out ${posed}`
      : `Share of the sampled answers to ${validation.prompts} held-out ${posed} that have what is rewarded`
    const label = `held-out, ${words}`
    const main = {
      ...MAIN,
      metric,
      label,
      short: 'held-out',
      help,
      says: `held-out ${words}`,
      answers,
    }
    if (sampled === undefined) return [main]
    const beside = {
      ...BESIDE,
      metric: sampled,
      label: 'held-out, task’s own score',
      short: 'task',
      help: ownScoreHelp(experiment),
      says: 'the task’s own held-out score',
      answers,
    }
    return [main, beside]
  }
  const greedy = {
    ...MAIN,
    metric,
    label: 'held-out, greedy',
    short: 'greedy',
    help: 'Share of held-out problems solved when the likeliest token is always taken',
    says: 'greedy held-out accuracy',
    answers: validation.prompts,
  }
  if (sampled === undefined) return [greedy]
  const others = {
    ...BESIDE,
    metric: sampled,
    label: 'held-out, sampled',
    short: 'sampled',
    help: 'Share of held-out problems solved by sampled responses',
    says: 'sampled held-out accuracy',
    answers,
  }
  return [greedy, others]
}

/** Of another trainer's run, whose answers nobody knows to be right or wrong, by what it has. */
function foreignTitle(metrics: readonly string[]): string {
  if (!metrics.includes(REWARD)) return 'Held-out mean of answers'
  return metrics.length > 1 ? 'Reward and held-out mean of answers' : 'Reward'
}

function titleOf(measure: ReturnType<typeof mainMeasure>, hasRewardModel: boolean): string {
  const trainedOn = hasRewardModel ? 'Task score' : 'Reward'
  const told = toldWords(measure)
  return told === undefined
    ? `${trainedOn} and held-out accuracy`
    : `${trainedOn} and held-out ${told}`
}

export function RewardChart({ height }: { readonly height: number }) {
  const experiment = useShown(shownExperiment)
  const log = useLog()
  const sampled = useShown(selectSampled)
  const hasRewardModel = useShown(hasRewardPhase)
  const logged = useShown(selectForeign)
  const foreign = log ? logged : ''
  const lines = useMemo((): readonly Told[] => {
    const others =
      foreign === ''
        ? heldOut(experiment, sampled)
        : foreignLines(foreignMeans(foreign.split('\n')))
    return [trained(experiment, hasRewardModel), ...others]
  }, [experiment, sampled, hasRewardModel, foreign])
  const overlays = useOverlays()
  const isShare = useStore(uiStore, () =>
    isShareOf(shownStore.getState(), boundsOf(lines, overlays, WHOLE)),
  )
  const note = useMemo(
    () => (log && foreign !== '' ? logNote(log, foreign.split('\n')) : scoreNote(experiment)),
    [experiment, log, foreign],
  )
  const says = useCallback(() => {
    const [own, ...others] = lines
    const told = [...others, own].map(({ metric, says, answers, isSampled = false }) => ({
      metric,
      label: says,
      isSampled,
      ...(isShare && answers !== undefined && { answers }),
    }))
    return scoreSays(told, isShare ? formatShare : formatNumber)
  }, [lines, isShare])
  return (
    <MetricChart
      id="reward-chart"
      title={
        foreign === ''
          ? titleOf(mainMeasure(experiment), hasRewardModel)
          : foreignTitle(foreign.split('\n'))
      }
      note={note}
      says={says}
      lines={lines}
      height={height}
      {...(isShare && { y: SHARE })}
      formatY={isShare ? formatPercent : formatTick}
      formatValue={isShare ? formatShare : formatNumber}
    />
  )
}
