// Writes the picture's captions: what happened in a run, in sentences of its measured numbers.

import { mostReward } from '../../../document/experiment/asked.ts'
import { resolvePhases } from '../../../document/experiment/resolve.ts'
import type { LabState } from '../../../page/state/store.ts'
import { formatNumber, formatSteps, withMinus } from '../../kit/format.ts'
import {
  between,
  END_STEPS,
  endMeans,
  isClear,
  isClearEntropy,
  peakOf,
  pointsBetween,
} from '../../kit/mean.ts'
import { type MainMeasure, mainMeasure, posedWords } from '../../shown/measure/main_measure.ts'
import { isShareIn } from '../../shown/measure/score_share.ts'
import {
  greedyAccuracy,
  layerEntropy,
  REWARD,
  sampledAccuracy,
  TASK_SCORE,
} from '../../shown/metrics.ts'
import { methodName } from '../../shown/run.ts'
import { isImported } from '../../shown/shown.ts'

/** What became of an entropy; `who` begins the sentence. */
function changeWords(who: string, change: number): string {
  // Adding 0 takes the sign from -0.
  const rounded = Number(change.toFixed(2)) + 0
  if (!isClearEntropy(change))
    return `${who} hardly changed its entropy (${withMinus(rounded.toFixed(2))} nats)`
  return `${who} became ${change < 0 ? 'surer' : 'less sure'} by ${Math.abs(change).toFixed(2)} nats`
}

/** The phase of a run that is being looked at: its steps so far, and what it trains. */
interface PhaseSeen {
  readonly first: number
  readonly last: number
  readonly layers: number
  readonly phase: ReturnType<typeof resolvePhases>[number]
}

/** The phase that step `until` is of. */
function phaseSeen(state: LabState, until: number): PhaseSeen | undefined {
  const { runExperiment, phase_switches } = state
  const begun = phase_switches.findLast(({ step }) => step < until)
  if (!runExperiment || !begun) return undefined
  const phase = resolvePhases(runExperiment)[begun.phase]
  const layers = runExperiment.model.num_hidden_layers
  return phase && { first: begun.step + 1, last: until, layers, phase }
}

/** Of the steps before the phase, or of its first one, and of its last. */
function entropyChange({ series }: LabState, layer: number, { first, last }: PhaseSeen) {
  const column = series.get(layerEntropy(layer))
  const before = between(column, Math.max(1, first - 1), last)
  return before.length < 2 ? undefined : before[before.length - 1] - before[0]
}

/** No line breaks before its sign. */
export const percent = (share: number): string => `${Math.round(100 * share)}\u00a0%`

function rewardWords(state: LabState, { first, last }: PhaseSeen): string {
  const { series, runExperiment } = state
  const metric = series.has(TASK_SCORE) ? TASK_SCORE : REWARD
  const scores = between(series.get(metric), first, last)
  const ends = endMeans(scores)
  if (!ends || !runExperiment) return ''
  const { rollout } = runExperiment
  const isShare = isShareIn(state, metric)
  const [from, to] = ends.map(isShare ? percent : formatNumber)
  const answers = rollout.train_batch_size * rollout.n
  const peak = isShare ? peakOf(scores, { of: END_STEPS, answers }) : undefined
  if (peak !== undefined)
    return ` The mean score of samples rose from ${from} to ${percent(peak)}, then fell to ${to}, each a mean over ${END_STEPS} steps.`
  return isShare && isUnclear(ends, END_STEPS * answers)
    ? ` The mean score of samples went from ${from} to ${to}, each a mean over ${END_STEPS} steps: no clear change.`
    : ` The mean score of samples went from ${from} to ${to}, each a mean over ${END_STEPS} steps.`
}

/** Whether shares of so many answers moved no further than chance brings them. */
const isUnclear = (shares: readonly number[], answers: number): boolean =>
  percent(shares[0]) !== percent(shares[1]) && !isClear(shares, answers)

interface Found {
  readonly values: readonly [was: number, is: number]
  readonly was: string
  readonly is: string
}

/** What the first and the last validation of a phase found, the one before it too; with its step
 * where that is neither the beginning of the phase nor its end. */
function foundIn(
  { series }: LabState,
  metric: string,
  { first, last }: PhaseSeen,
  words = percent,
): Found | undefined {
  const points = pointsBetween(series.get(metric), first - 1, last)
  const [from, to] = [points[0], points[points.length - 1]]
  if (points.length < 2) return undefined
  const said = ({ step, value }: typeof from, isEnd: boolean) =>
    isEnd ? words(value) : `${words(value)} at step ${step}`
  const was = said(from, from.step <= Math.max(1, first - 1))
  return { values: [from.value, to.value], was, is: said(to, to.step === last) }
}

/** '44 %, no clear change', of so many answers. */
const endWords = ({ values, is }: Found, answers: number): string =>
  isUnclear(values, answers) ? `${is}, no clear change` : is

/** What the validations of a phase found, where there were two; the one before it counts. */
function heldOutWords(state: LabState, seen: PhaseSeen): string {
  const { runExperiment } = state
  if (!runExperiment) return ''
  const { id } = runExperiment.task
  const { prompts, n } = runExperiment.validation
  const { metric, asked, isReward } = mainMeasure(runExperiment)
  if (asked) {
    const found = foundIn(state, metric, seen)
    return found
      ? ` ${asked.label} in ${prompts} held-out ${posedWords({ id })}: ${found.was}, then ${endWords(found, prompts * n)}.`
      : ''
  }
  if (isReward) {
    const found = foundIn(state, metric, seen, rewardWord(state, metric))
    return found ? ` Held-out reward: ${found.was}, then ${found.is}.` : ''
  }
  const greedy = foundIn(state, greedyAccuracy(id), seen)
  if (!greedy) return ''
  const sampled = foundIn(state, sampledAccuracy(id, n), seen)
  const is = endWords(greedy, prompts)
  return sampled
    ? ` Of ${prompts} held-out problems it solved ${greedy.was}, then ${is}; with sampled answers ${sampled.was}, then ${endWords(sampled, prompts * n)}.`
    : ` Of ${prompts} held-out problems it solved ${greedy.was}, then ${is}.`
}

/** The first and the last value of a metric; undefined where it was measured once or never. */
export function endsOf({ series, step }: LabState, metric: string): readonly number[] | undefined {
  const values = between(series.get(metric), 0, step)
  return values.length < 2 ? undefined : [values[0], values[values.length - 1]]
}

/** A reward as the page writes it: a share, or a number where it can exceed 1. */
function rewardWord(state: LabState, metric: string): (value: number) => string {
  const isShare = isShareIn(state, metric)
  return (value) => (isShare ? percent(value) : withMinus(value.toFixed(2)))
}

/** Whether a run ended clearly below where it began. */
export function gotWorse(state: LabState): boolean {
  if (!state.runExperiment) return false
  const { reward, validation } = state.runExperiment
  const { metric, asked, isReward } = mainMeasure(state.runExperiment)
  const ends = endsOf(state, metric)
  if (!ends || ends[1] >= ends[0]) return false
  // As shares of the most that it can be; one without bounds is not judged.
  const most = isReward ? mostReward(reward) : 1
  if (most === undefined) return false
  const answers = validation.prompts * (asked || isReward ? validation.n : 1)
  return isClear(
    ends.map((end) => end / most),
    answers,
  )
}

/** What became of the share that has what the reward asks for, and of how many answers it is. */
function askedSays(state: LabState, { metric, asked }: MainMeasure): string | undefined {
  const shares = endsOf(state, metric)
  const { task, validation } = state.runExperiment ?? {}
  if (!shares || !asked || !task || !validation) return undefined
  const [before, after] = shares.map(percent)
  const began = before === after ? 'as many as when it began' : `it began at ${before}`
  const is = `${asked.label}: ${after} of ${validation.prompts} new ${posedWords(task)}, sampled; ${began}`
  return isUnclear(shares, validation.prompts * validation.n) ? `${is}: no clear change.` : `${is}.`
}

/** What became of a reward that is told by itself. */
function rewardSays(state: LabState, { metric }: MainMeasure): string | undefined {
  const { runExperiment } = state
  const rewards = endsOf(state, metric)
  if (!rewards || !runExperiment) return undefined
  const [before, after] = rewards.map(rewardWord(state, metric))
  const began = before === after ? 'as much as when it began' : `it began at ${before}`
  return `Its sampled answers to new ${posedWords(runExperiment.task)} earn a reward of ${after}; ${began}.`
}

/** What a run came to, in a sentence; undefined where it was not measured twice on problems that it
 * never trains on. A reward of several parts is what was asked for, whatever the task's own score
 * says. */
export function headline(state: LabState): string | undefined {
  const { runExperiment } = state
  const id = runExperiment?.task.id ?? ''
  const n = runExperiment?.validation.n ?? 1
  const measure = runExperiment && mainMeasure(runExperiment)
  const told =
    (measure?.asked && askedSays(state, measure)) ||
    (measure?.isReward && rewardSays(state, measure))
  if (told) return told
  const shares = endsOf(state, greedyAccuracy(id))
  if (!shares) return undefined
  const [before, after] = shares.map(percent)
  const problems = runExperiment?.validation.prompts ?? 0
  const sampled = endsOf(state, sampledAccuracy(id, n))
  const hasNoChange = isUnclear(shares, problems)
  // The likeliest answers may stay where samples do not.
  if (hasNoChange && sampled && isClear(sampled, problems * n)) {
    const [was, is] = sampled.map(percent)
    return sampled[1] < sampled[0]
      ? `It got worse: its samples solve ${is} of new problems; it began at ${was}. Its likeliest answers: ${before}, then ${after}.`
      : `Its samples solve ${is} of new problems; it began at ${was}. Its likeliest answers: ${before}, then ${after}.`
  }
  if (hasNoChange)
    return `No clear change: it solves ${after} of ${problems} new problems; it began at ${before}.`
  if (shares[1] < shares[0])
    return `It got worse: it solves ${after} of new problems; it began at ${before}.`
  const began = before === after ? 'as many as when it began' : `it began at ${before}`
  return `It solves ${after} of new problems; ${began}.`
}

/** What each phase of a run did, in their order; without those of which too little was measured. */
export function phaseCaptions(state: LabState): readonly string[] {
  const begins = state.phase_switches.map(({ step }) => step)
  const phases = state.runExperiment?.phases ?? []
  const used = new Set(phases.flatMap((phase) => (phase.kind === 'rl' ? phase.adv_estimator : [])))
  const saysMethod = used.size > 1
  return begins
    .map((_, i) => captionOf(state, begins[i + 1] ?? state.step, { saysMethod }))
    .filter((caption) => caption !== '')
}

/** What the present phase has done so far; '' where too little was measured. A brief
 * one leaves held-out problems to the chart below; one of several algorithms names its own. */
export function captionOf(
  state: LabState,
  atStep?: number,
  { isBrief = false, saysMethod = false } = {},
): string {
  const seen = phaseSeen(state, atStep ?? state.step)
  if (!seen) return ''
  const { phase, layers, first, last } = seen
  const final = entropyChange(state, layers, seen)
  if (final === undefined) return ''
  // Samples can be drawn at another temperature than entropies are measured at.
  const isAtAnother = state.runExperiment?.rollout.temperature !== 1
  const became = changeWords(`the final policy${isAtAnother ? ' at temperature 1' : ''}`, final)
  const taken = formatSteps(last - first + 1)
  const steps = saysMethod && phase.kind === 'rl' ? `${taken}, ${methodName(phase)}` : taken
  const heldOut = isBrief ? '' : heldOutWords(state, seen)
  // A log says neither how its phases learned nor which layer.
  if (isImported()) return `As logged, ${steps}: ${became}.${rewardWords(state, seen)}${heldOut}`
  if (phase.kind === 'sft') return `Imitation, ${steps}: ${became}.${heldOut}`
  if (phase.kind === 'reward_model') return ''
  if (phase.kind === 'preference')
    return `Preference optimization of the whole model, ${steps}: ${became}.${heldOut}`
  if (phase.target_layer === layers)
    return phase.kind === 'distill'
      ? `Distillation of the whole model, ${steps}: ${became}.${heldOut}`
      : `Reinforcement of the whole model, ${steps}: ${became}.${rewardWords(state, seen)}${heldOut}`
  const own = entropyChange(state, phase.target_layer, seen)
  if (own === undefined) return ''
  return `${phase.kind === 'distill' ? 'Distillation' : 'Reinforcement'} of layer ${phase.target_layer} alone, ${steps}: ${changeWords('its policy', own)}; ${became}.${rewardWords(state, seen)}${heldOut}`
}

/** What stands before a caption's colon, and its sentences. */
export function captionLines(caption: string): readonly string[] {
  const [, head = '', rest = caption] = /^(.*?)[:：]\s*(.*)$/s.exec(caption) ?? []
  const says = rest.split(/(?<=\.)\s+|(?<=。)/).filter(Boolean)
  return [head, ...says.map((line) => line.charAt(0).toUpperCase() + line.slice(1))]
}

/** The lesson that says more about what a run was: its id and what to call it. */
export function nextLesson({ runExperiment }: LabState): readonly [id: string, words: string] {
  const phases = runExperiment ? resolvePhases(runExperiment) : []
  const layers = runExperiment?.model.num_hidden_layers
  if (phases.some(({ kind }) => kind === 'reward_model'))
    return ['rlhf', 'How a reward model is hacked']
  const rl = phases.flatMap((phase) => (phase.kind === 'rl' ? phase : []))
  if (rl.some(({ target_layer }) => target_layer !== layers))
    return ['bupo', 'The evidence on inner phases']
  if (rl.some(({ adv_estimator }) => adv_estimator === 'gae')) return ['ppo', 'How PPO works']
  return ['entropy', 'How to read entropy']
}
