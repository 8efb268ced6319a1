// Draws the metrics of a run, and says what each of them means.

import { useMemo } from 'react'
import { useStore } from 'zustand'
import { hasGroups } from '../../document/experiment/schema/phase_settings.ts'
import { formatNumber, formatRate, formatShare, tickOf } from '../kit/format.ts'
import { lazyPart } from '../part/lazy_part.tsx'
import { type PanelEntry, Panels } from '../part/Panels.tsx'
import { Part } from '../part/Part.tsx'
import { ChartTools } from '../plot/ChartTools.tsx'
import { type Line, MetricChart } from '../plot/MetricChart.tsx'
import { useIsAtRest } from '../replay/at_rest.ts'
import { IDEAL_CLIP_FRACTION, IDEAL_PPO_KL, type Ideal } from '../scales/ideal.ts'
import { boardStore } from '../shown/board.ts'
import { HELD_OUT_PREFERENCES, HELD_OUT_REWARDS, layerEntropy, REWARD } from '../shown/metrics.ts'
import { useLogged, useOverlays } from '../shown/overlays.ts'
import { hasRewardPhase, selectHasRun, shownExperiment } from '../shown/run.ts'
import { useIsImported, usePresent, useShown } from '../shown/shown.ts'
import { Downloads } from './Downloads.tsx'
import { EntropyChart } from './entropy/EntropyChart.tsx'
import { EntropyMap } from './entropy/EntropyMap.tsx'
import { Intro } from './Intro.tsx'
import { RewardChart } from './scores/RewardChart.tsx'

/** Most people never open them. */
const MoreCharts = lazyPart(async () => (await import('./more/MoreCharts.tsx')).MoreCharts, {
  name: 'More charts',
  fallback: null,
})

/** Where nothing was trained here there is a recording instead. */
const PlayedAbove = lazyPart(async () => (await import('./PlayedAbove.tsx')).PlayedAbove, {
  name: 'The note on the picture',
  fallback: null,
})

const Samples = lazyPart(async () => (await import('./Samples.tsx')).Samples, {
  name: 'The samples',
  fallback: <section className="card samples" />,
})

const PLOT_HEIGHT = 232
const SMALL_HEIGHT = 128
const SHARE = [0, 1] as const

interface Small {
  readonly id: string
  readonly title: string
  readonly note: string
  /** One after the other: what warm starts and reinforcement call the same thing. */
  readonly metrics: readonly string[]
  readonly format?: (value: number | undefined) => string
  readonly isShare?: boolean
  readonly ideal?: Ideal
}

const SMALL: readonly Small[] = [
  {
    id: 'kl',
    title: 'KL to the old policy',
    note: 'nats per token, over one update',
    metrics: ['actor/ppo_kl'],
    ideal: IDEAL_PPO_KL,
  },
  {
    id: 'clip-fraction',
    title: 'Clip fraction',
    note: 'share of tokens whose ratio was clipped',
    metrics: ['actor/pg_clipfrac'],
    format: formatShare,
    ideal: IDEAL_CLIP_FRACTION,
  },
  {
    id: 'grad-norm',
    title: 'Gradient norm',
    note: 'global, before clipping',
    metrics: ['train/grad_norm', 'reward_model/grad_norm', 'actor/grad_norm'],
  },
  {
    id: 'response-length',
    title: 'Response length',
    note: 'tokens, end token included',
    metrics: ['response_length/mean'],
  },
]

/** Where responses to one prompt are compared with each other; elsewhere all of them teach. */
const GROUPS: Small = {
  id: 'informative',
  title: 'Informative groups',
  note: 'share of prompts whose responses differ in score',
  metrics: ['group/informative'],
  format: formatShare,
  isShare: true,
}

const WARM_START: Small = {
  id: 'sft-loss',
  title: 'Warm-start loss',
  note: 'cross-entropy of demonstrations, nats per token',
  metrics: ['train/loss'],
}
/** In its place where nothing is imitated: an empty chart would say nothing. */
const RATE: Small = {
  id: 'rate',
  title: 'Learning rate',
  note: 'of the policy, after warm-up and decay',
  metrics: ['actor/lr'],
  format: formatRate,
}

/** Of a log, whose loss may be all that it has. */
const LOSS: Small = {
  id: 'loss',
  title: 'Loss',
  note: 'of the policy, as the log has it',
  metrics: ['actor/pg_loss', 'train/loss'],
}

/** Where a reward model takes part. */
const SMALL_OF_REWARD: readonly Small[] = [
  {
    id: 'reward-model-accuracy',
    title: 'Reward model’s accuracy',
    note: 'share of held-out pairs it puts in the preferred order',
    metrics: [HELD_OUT_PREFERENCES],
    format: formatShare,
    isShare: true,
  },
  {
    id: 'reward-model-loss',
    title: 'Reward model’s loss',
    note: 'nats per pair; ln 2 = 0.69 is a coin toss',
    metrics: ['reward_model/loss'],
  },
  {
    id: 'reward-model-margin',
    title: 'Margin',
    note: 'mean score of the preferred response minus that of the other',
    metrics: ['reward_model/margin'],
  },
  {
    id: 'reward-model-score',
    title: 'Reward model’s score',
    note: 'of sampled responses; training uses it, and it is not a share',
    metrics: [REWARD],
  },
  {
    id: 'reference-kl',
    title: 'KL to the reference',
    note: 'nats per token, to the policy that reinforcement began with',
    metrics: ['actor/reward_kl_penalty', 'actor/kl_loss'],
  },
]

/** Where a policy learns from pairs. */
const SMALL_OF_PREFERENCES: readonly Small[] = [
  {
    id: 'preference-accuracy',
    title: 'Pairs in the preferred order',
    note: 'share of held-out pairs whose better response has the higher implied reward',
    metrics: [HELD_OUT_REWARDS],
    format: formatShare,
    isShare: true,
  },
  {
    id: 'preference-margin',
    title: 'Margin of implied rewards',
    note: 'of the better response minus the other; beta times nats',
    metrics: ['rewards/margins'],
  },
  {
    id: 'preference-logps',
    title: 'Log-prob of better responses',
    note: 'nats per response; it may fall while the margin grows',
    metrics: ['logps/chosen'],
  },
  {
    id: 'preference-loss',
    title: 'Preference loss',
    note: 'per pair, in the unit of the chosen loss',
    metrics: ['preference/loss'],
  },
]

/** Where a teacher teaches the policy. */
const SMALL_OF_DISTILLATION: readonly Small[] = [
  {
    id: 'distillation-loss',
    title: 'Divergence from the teacher',
    note: 'nats per token, before the update, summed over the taught layers',
    metrics: ['distillation/loss'],
  },
]

const comparesAnswers = (state: Parameters<typeof shownExperiment>[0]) =>
  shownExperiment(state).phases.some((phase) => phase.kind === 'rl' && hasGroups(phase))
const hasDistillation = (state: Parameters<typeof shownExperiment>[0]) =>
  shownExperiment(state).phases.some(({ kind }) => kind === 'distill')
const hasPreferences = (state: Parameters<typeof shownExperiment>[0]) =>
  shownExperiment(state).phases.some(({ kind }) => kind === 'preference')

const hasWarmStart = (state: Parameters<typeof shownExperiment>[0]) =>
  shownExperiment(state).phases.some(({ kind }) => kind === 'sft')
function SmallChart({ small }: { small: Small }) {
  const lines = useMemo<readonly Line[]>(
    () =>
      small.metrics.map((metric) => ({
        metric,
        label: small.title,
        color: '--series-1',
        width: 1.4,
      })),
    [small],
  )
  return (
    <MetricChart
      id={`${small.id}-chart`}
      title={small.title}
      note={small.note}
      lines={lines}
      height={SMALL_HEIGHT}
      {...(small.isShare ? { y: SHARE } : {})}
      {...(small.ideal ? { ideal: small.ideal } : {})}
      formatY={tickOf(small.format)}
      formatValue={small.format ?? formatNumber}
      compact
    />
  )
}

const OF_LAYERS = [{ metric: layerEntropy(0) }]
const MapOfEntropies = () =>
  useLogged(OF_LAYERS).length > 0 ? <EntropyMap height={PLOT_HEIGHT} /> : null
const ScoreLines = () => <RewardChart height={PLOT_HEIGHT} />
const EntropyLines = () => <EntropyChart height={PLOT_HEIGHT} />

const ABOUT: readonly PanelEntry[] = [
  { name: 'The introduction', Own: Intro },
  { name: 'The note on the picture', Own: PlayedAbove },
]
const LARGE: readonly PanelEntry[] = [
  { name: 'The downloads', Own: Downloads },
  { name: 'The tools of the charts', Own: ChartTools },
  { name: 'The chart of the reward', Own: ScoreLines },
  { name: 'The chart of entropies', Own: EntropyLines },
]
const NEXT: readonly PanelEntry[] = [
  { name: 'The map of entropies', Own: MapOfEntropies },
  { name: 'The samples', Own: Samples },
]
/** A phone shows charts on its first screen, and what they are of behind them. */
const isPhone = globalThis.matchMedia?.('(max-width: 559px)').matches ?? false
const PANELS = isPhone ? [...LARGE, ...ABOUT, ...NEXT] : [...ABOUT, ...LARGE, ...NEXT]

const selectIsEmpty = ({ series }: { readonly series: ReadonlyMap<string, unknown> }) =>
  series.size === 0

/** What a link's sender wants seen has its place before there is a run. */
const selectHasPinned = ({ pinned }: { readonly pinned: readonly string[] }) => pinned.length > 0

export function Charts() {
  const hasRewardModel = useShown(hasRewardPhase)
  const isEmpty = useShown(selectIsEmpty)
  const isAtRest = useIsAtRest()
  const hasLines = useOverlays().length > 0
  const hasRun = usePresent(selectHasRun) || isAtRest || hasLines
  const hasBoard = useStore(boardStore, selectHasPinned)
  const withPreferences = useShown(hasPreferences)
  const withDistillation = useShown(hasDistillation)
  const withWarmStart = useShown(hasWarmStart)
  // Of a log that was imported the estimator is not known.
  const fromLog = useIsImported()
  const withGroups = useShown(comparesAnswers) || fromLog
  const small = [
    ...(hasRewardModel ? SMALL_OF_REWARD : []),
    ...(withPreferences ? SMALL_OF_PREFERENCES : []),
    ...(withDistillation ? SMALL_OF_DISTILLATION : []),
    ...(fromLog ? [LOSS] : []),
    ...SMALL,
    ...(withGroups ? [GROUPS] : []),
    withWarmStart ? WARM_START : RATE,
  ]
  return (
    <section className="charts" aria-label="Charts" data-empty={isEmpty} data-awaits={isAtRest}>
      <Panels panels={hasRun ? PANELS : ABOUT} />
      {hasRun ? (
        <div className="small-charts">
          {small.map((chart) => (
            <Part key={chart.id} name={`The chart “${chart.title}”`}>
              <SmallChart small={chart} />
            </Part>
          ))}
        </div>
      ) : null}
      {hasRun || hasBoard ? <MoreCharts /> : null}
    </section>
  )
}
