// Lists the charts behind “More charts”: which metrics each draws. One is there where the run has
// measured any of its lines.
import { RUN_COLORS, runColor } from '../../../record/run/record.ts'
import { formatNumber, formatRate, formatShare, NONE } from '../../kit/format.ts'
import type { Line } from '../../plot/chart_lines.ts'
import { IDEAL_EXPLAINED_VARIANCE } from '../../scales/ideal.ts'
import { depthColor, layerDash } from '../../scales/palette.ts'
import { line, type MoreChart, range } from './chart_entry.ts'
import { rewardCharts } from './reward_charts.ts'
import { OTHER_STAGES, STAGES } from './stages.ts'
import { TOOL_CHARTS } from './tool_charts.ts'

export interface ChartGroup {
  readonly name: string
  readonly charts: readonly MoreChart[]
}

const POLICY: readonly MoreChart[] = [
  {
    id: 'policy-loss',
    title: 'Policy loss',
    note: 'what the updates lower, without entropy and KL; summed over the updates of a step',
    lines: [line('actor/pg_loss', 'policy loss')],
  },
  {
    id: 'sampled-entropy',
    title: 'Entropy of what was sampled',
    note: 'actor/entropy: nats per token of all that was sampled, before the update and at the temperature of the samples; those of the layers are after it, of some of these responses',
    lines: [line('actor/entropy', 'entropy')],
  },
  {
    id: 'entropy-weight',
    title: 'Weight of the entropy bonus',
    note: 'where it follows a target; 0 while the entropy is above it',
    lines: [line('actor/entropy_coeff', 'weight')],
  },
  {
    id: 'loss-kl',
    title: 'KL in the loss',
    note: 'to the reference, the policy that reinforcement began with; summed over the updates of a step',
    lines: [line('actor/kl_loss', 'KL')],
  },
  {
    id: 'reward-kl',
    title: 'KL in the reward',
    note: 'nats per token, to the reference, the policy that reinforcement began with; and its weight',
    lines: [
      line('actor/reward_kl_penalty', 'KL'),
      line('actor/reward_kl_penalty_coeff', 'weight', 1),
    ],
  },
  {
    id: 'lower-clip-fraction',
    title: 'Clipped by the third bound',
    note: 'share of tokens with a bad advantage whose ratio passed clip_ratio_c',
    lines: [line('actor/pg_clipfrac_lower', 'share')],
    format: formatShare,
  },
  {
    id: 'rollout-kl',
    title: 'KL between rollout and training',
    note: 'nats per token, of the policy that sampled to the one that is trained',
    lines: [line('rollout_corr/kl', 'KL')],
  },
  {
    id: 'teacher-kl',
    title: 'KL to the teacher',
    note: 'nats per token that was sampled, before the update; single tokens may be below 0',
    lines: [line('distillation/reverse_kl', 'KL')],
  },
  {
    id: 'staleness',
    title: 'Age of the samples',
    note: 'steps between sampling and training, mean of the batch',
    lines: [line('rollout/staleness', 'steps')],
  },
  {
    id: 'curriculum',
    title: 'Curriculum',
    note: 'the value of the task’s parameter that the step trained on',
    lines: [line('curriculum/value', 'value')],
  },
  {
    id: 'admitted',
    title: 'Admitted problems',
    note: 'share of the training set whose success lies within the gate, or is not measured yet',
    lines: [line('curriculum/admitted', 'share')],
    format: formatShare,
  },
  {
    id: 'learning-rate',
    title: 'Learning rate',
    note: 'of each model’s optimizer',
    lines: [
      line('actor/lr', 'policy'),
      line('critic/lr', 'critic', 1),
      line('train/lr', 'warm start', 2),
    ],
    format: formatRate,
  },
]

const CRITIC: readonly MoreChart[] = [
  {
    id: 'critic-loss',
    title: 'Critic’s loss',
    note: 'half the squared error of its values; summed over the updates of a step',
    lines: [line('critic/vf_loss', 'loss')],
  },
  {
    id: 'explained-variance',
    title: 'Explained variance',
    note: 'share of the returns’ variance that the critic’s values explain',
    lines: [line('critic/vf_explained_var', 'explained')],
    ideal: IDEAL_EXPLAINED_VARIANCE,
  },
  {
    id: 'values',
    title: 'Values',
    note: 'what the critic expects at each response token, before its update',
    lines: range('critic/values'),
  },
  {
    id: 'value-clip-fraction',
    title: 'Clip fraction of values',
    note: 'share of tokens whose new value left the range around the old one',
    lines: [line('critic/vf_clipfrac', 'share')],
    format: formatShare,
  },
  {
    id: 'critic-grad-norm',
    title: 'Critic’s gradient norm',
    note: 'global, before clipping',
    lines: [line('critic/grad_norm', 'norm')],
  },
]

const ADVANTAGES: readonly MoreChart[] = [
  {
    id: 'advantages',
    title: 'Advantages',
    note: 'of the response tokens that are trained on',
    lines: range('critic/advantages'),
  },
  {
    id: 'returns',
    title: 'Returns',
    note: 'of the response tokens that are trained on; what a critic learns to expect',
    lines: range('critic/returns'),
  },
  {
    id: 'rewards',
    title: 'Rewards',
    note: 'of whole responses, after penalties and the KL in the reward',
    lines: range('critic/rewards'),
  },
  {
    id: 'lengths',
    title: 'Lengths of responses',
    note: 'tokens, end token included',
    lines: range('response_length'),
  },
  {
    id: 'cut-off',
    title: 'Responses cut off',
    note: 'share without an end token, and share that fills all columns',
    lines: [
      line('response/not_ended_ratio', 'no end token'),
      line('response_length/clip_ratio', 'full length', 1),
    ],
    format: formatShare,
    isShare: true,
  },
]

const BY_NUMBER = /^val-(?:core|aux)\/.+\/acc\/(best|maj)@(\d+)\/mean$/
const MEAN = /^val-core\/.+\/acc\/mean@(\d+)$/

/** Best or majority of n sampled answers, a line for each n; the mean of single ones beneath
 * them. */
function byNumber(
  metrics: readonly string[],
  what: 'best' | 'maj',
  isDark: boolean,
): readonly Line[] {
  const found = metrics
    .flatMap((metric) => {
      const match = BY_NUMBER.exec(metric)
      return match?.[1] === what ? [{ metric, n: Number(match[2]) }] : []
    })
    .sort((a, b) => a.n - b.n)
  if (found.length === 0) return []
  const single = metrics.filter((metric) => MEAN.test(metric)).map((metric) => ({ metric, n: 1 }))
  const all = [...single, ...found]
  return all.map(({ metric, n }, i) => ({
    metric,
    label: n === 1 ? 'one answer' : `${what}@${n}`,
    color: depthColor(i, all.length - 1, isDark),
    width: 1.5,
    dash: layerDash(i),
    dots: true,
  }))
}

const validationCharts = (metrics: readonly string[], isDark: boolean): readonly MoreChart[] => [
  {
    id: 'best-of-n',
    title: 'Best of n',
    note: 'share of held-out problems that the best of n sampled answers solves',
    lines: byNumber(metrics, 'best', isDark),
    format: formatShare,
    isShare: true,
  },
  {
    id: 'majority-of-n',
    title: 'Majority of n',
    note: 'share of held-out problems that the most frequent of n sampled answers solves',
    lines: byNumber(metrics, 'maj', isDark),
    format: formatShare,
    isShare: true,
  },
]

const TIME = 'timing_s/'

export const formatSeconds = (seconds: number | undefined): string =>
  seconds === undefined
    ? NONE
    : seconds < 0.1
      ? `${formatNumber(1000 * seconds)} ms`
      : `${formatNumber(seconds)} s`

/** Seconds of every stage, and tokens per second. */
export function timeCharts(metrics: readonly string[]): readonly MoreChart[] {
  const stages = metrics
    .filter((metric) => metric.startsWith(TIME))
    .map((metric) => metric.slice(TIME.length))
    .filter((stage) => stage !== 'step')
    .map((stage, i) => ({
      metric: TIME + stage,
      label: STAGES[stage] ?? OTHER_STAGES[stage] ?? stage,
      help: `${TIME}${stage}`,
      color: runColor(i).color,
      // Colours come again, with another dash.
      dash: runColor(i + Math.floor(i / RUN_COLORS.length)).dash,
      width: 1.4,
      // Validations and looks come in some steps: between those no time was taken.
      hasGaps: true,
    }))
  const whole = { ...line(`${TIME}step`, 'whole step'), color: '--ink', width: 2 }
  return [
    {
      id: 'stage-times',
      title: 'Time of each stage',
      note: 'seconds from a step’s beginning to its numbers, while the next step begins; a step without a stage, such as validation, is a gap in its line',
      lines: [whole, ...stages],
      format: formatSeconds,
      isWide: true,
    },
    {
      id: 'throughput',
      title: 'Throughput',
      note: 'tokens per second, of prompts and responses over a step’s latency: verl’s perf/throughput; steps overlap, so the run does more',
      lines: [line('perf/throughput', 'tokens per second')],
    },
  ]
}

/** The charts that a run with these metrics has, by what they are about; each with the lines that
 * were measured. */
export function moreCharts(metrics: readonly string[], isDark: boolean): readonly ChartGroup[] {
  const measured = new Set(metrics)
  const groups: readonly ChartGroup[] = [
    { name: 'Policy', charts: POLICY },
    { name: 'Tools', charts: TOOL_CHARTS },
    { name: 'Critic', charts: CRITIC },
    { name: 'Parts of the reward', charts: rewardCharts(metrics) },
    { name: 'Advantages, rewards and lengths', charts: ADVANTAGES },
    { name: 'Several answers to held-out problems', charts: validationCharts(metrics, isDark) },
    { name: 'Time', charts: timeCharts(metrics) },
  ]
  return groups
    .map(({ name, charts }) => ({
      name,
      charts: charts
        .map((chart) => ({
          ...chart,
          lines: chart.lines.filter(({ metric }) => measured.has(metric)),
        }))
        .filter(({ lines }) => lines.length > 0),
    }))
    .filter(({ charts }) => charts.length > 0)
}
