// Reads from a run what a rule needs: windows of one phase's metrics, and the name of a setting of
// that phase.

import { valueAt } from '../../document/experiment/fields/paths.ts'
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import type { Series } from '../../host/columns/series.ts'
import { vocabularyOf } from '../../host/protocol/vocabulary.ts'
import type { RlPhase } from '../../rl/config/phase.ts'
import type { Advice, Finding } from './finding.ts'

/** Steps that a share is averaged over, so that one bad batch is no diagnosis. */
export const WINDOW = 5

/** What training is rewarded with, before a KL penalty. */
export const REWARD = 'critic/score/mean'
/** What the task says of the same responses, where something else is trained on. */
export const TASK_SCORE = 'task/score/mean'

/** Above this mean score there is nothing left to learn. */
export const SOLVED = 0.9

/** A step and its value. */
export type Point = readonly [step: number, value: number]

/** What the rules see of a run. */
export interface RunView {
  readonly experiment: Experiment
  /** Index of the phase that the last step belongs to. */
  readonly phase: number
  /** Training steps done before that phase began. */
  readonly phaseStart: number
  /** Metrics by name, under verl's names. */
  readonly series: ReadonlyMap<string, Series>
}

/** The metrics of one phase of a run, as windows and means. */
export class Evidence {
  protected readonly run: RunView

  constructor(run: RunView) {
    this.run = run
  }

  /** How many values the phase has of a metric, NaN included. */
  count(metric: string): number {
    const series = this.run.series.get(metric)
    return series ? series.length - series.after(this.run.phaseStart) : 0
  }

  /** The last `count` finite values of the phase, oldest first; fewer where there are fewer. */
  last(metric: string, count: number): Point[] {
    const series = this.run.series.get(metric)
    const points: Point[] = []
    if (!series) return points
    const first = series.after(this.run.phaseStart)
    for (let i = series.length - 1; i >= first && points.length < count; i--)
      if (Number.isFinite(series.values[i])) points.push([series.steps[i], series.values[i]])
    return points.reverse()
  }

  /** Mean of the last `count` values; undefined while there are fewer. */
  recent(metric: string, count = WINDOW): number | undefined {
    const points = this.last(metric, count)
    return points.length < count ? undefined : mean(points)
  }

  /** Mean of the phase's first `count` values; undefined while there are fewer. */
  early(metric: string, count = WINDOW): number | undefined {
    const series = this.run.series.get(metric)
    const points: Point[] = []
    if (!series) return undefined
    for (let i = series.after(this.run.phaseStart); i < series.length; i++) {
      if (Number.isFinite(series.values[i])) points.push([series.steps[i], series.values[i]])
      if (points.length === count) return mean(points)
    }
    return undefined
  }

  /** Mean of a metric over the steps first…last of the phase, both included; undefined where it has
   * none there. */
  between(metric: string, first: number, last: number, count: number): number | undefined {
    const points = this.last(metric, count).filter(([step]) => step >= first && step <= last)
    return points.length > 0 ? mean(points) : undefined
  }

  /** The last step that has a value. */
  stepOf(metric: string): number {
    return this.last(metric, 1)[0]?.[0] ?? this.run.phaseStart
  }

  /** Advice on a setting of this phase, e.g. `actor.optim.lr`: its own where it has one, else what
   * it shares. */
  advice(name: string, text: string): Advice {
    const own = `phases.${this.run.phase}.${name}`
    const isOwn = valueAt(this.run.experiment, own) !== undefined
    return { path: isOwn ? own : name, text }
  }

  /** Advice on the length of the last warm start before this phase; without one, `otherwise` on the
   * task. */
  warmStart(text: string, otherwise: string): Advice {
    const before = this.run.experiment.phases
      .slice(0, this.run.phase)
      .findLastIndex(({ kind }) => kind === 'sft')
    return before < 0
      ? { path: 'task.id', text: otherwise }
      : { path: `phases.${before}.steps`, text }
  }
}

/** Of a phase of reinforcement. */
export class PhaseEvidence extends Evidence {
  readonly phase: RlPhase
  /** ln V: the most that an entropy can be, nats. */
  readonly max_entropy: number

  constructor(run: RunView, phase: RlPhase) {
    super(run)
    this.phase = phase
    this.max_entropy = vocabularyOf(run.experiment.task).max_entropy
  }

  /** Parts of the reward; none where it is the task's own score. */
  get reward_parts(): Experiment['reward']['parts'] {
    return this.run.experiment.reward.parts
  }

  /** The metric that says how good the answers are, by the task: the share of right ones where no
   * score is partial. */
  get score(): string {
    return this.run.series.has(TASK_SCORE) ? TASK_SCORE : REWARD
  }

  /** Mean score of samples on held-out problems, of older records their accuracy; undefined where
   * it is not measured, or with another temperature than the phase trains with. */
  get held_out(): string | undefined {
    const { temperature } = this.run.experiment.validation
    if (temperature !== null && temperature !== this.phase.rollout.temperature) return undefined
    const names = [...this.run.series.keys()]
    return (
      names.find((name) => /^val-aux\/.*\/reward\/mean@\d+$/.test(name)) ??
      names.find((name) => /^val-core\/.*\/acc\/mean@\d+$/.test(name))
    )
  }
}

/** A rule: what it finds, or nothing. It reads only metrics that the phase reports. */
export type DiagnosisRule<Of = PhaseEvidence> = (of: Of) => Finding | undefined

export const mean = (points: readonly Point[]): number =>
  points.reduce((sum, [, value]) => sum + value, 0) / points.length

/** Numbers in a sentence. */
export const percent = (share: number): string => `${Number((share * 100).toPrecision(2))} %`
export const short = (value: number): string => String(Number(value.toPrecision(3)))
