// Draws the picture of a preset: the rewards of its recorded runs by step, and what became of the
// entropy of every layer.

import type { PresetFigures } from '../../document/presets/drawn.ts'
import { mean } from '../kit/mean.ts'

const HEIGHT = 104
const EDGE = 6
/** Where the curves end and the layers begin. */
const CURVES = 168
const LAYERS = 190
const WIDTH = 280

interface Range {
  readonly low: number
  readonly high: number
}

/** From 0 to 1 for shares; wider where a reward model gives other numbers. */
function rewardRange({ reward }: PresetFigures): Range {
  const values = reward.flat().map(([, value]) => value)
  return { low: Math.min(0, ...values), high: Math.max(1, ...values) }
}

function Curves({ figures }: { readonly figures: PresetFigures }) {
  const { low, high } = rewardRange(figures)
  const x = (step: number) => EDGE + (step / figures.steps) * (CURVES - 2 * EDGE)
  const y = (value: number) => EDGE + ((high - value) / (high - low)) * (HEIGHT - 2 * EDGE)
  return (
    <>
      {[0, 1].map((value) => (
        <path key={value} className="gallery-grid" d={`M${EDGE} ${y(value)}H${CURVES - EDGE}`} />
      ))}
      {figures.reward.map((points, i) => (
        <polyline
          key={figures.seeds[i]}
          className="gallery-reward"
          points={points.map(([step, value]) => `${x(step)},${y(value)}`).join(' ')}
        />
      ))}
    </>
  )
}

function Layers({ figures }: { readonly figures: PresetFigures }) {
  const { entropy_first, entropy_last } = figures
  const lastLayer = entropy_first.length - 1
  const most = Math.max(...entropy_first, ...entropy_last)
  const x = (nats: number) => LAYERS + EDGE + (nats / most) * (WIDTH - LAYERS - 2 * EDGE)
  // The canopy, the final policy, is on top.
  const y = (layer: number) =>
    EDGE + ((lastLayer - layer + 0.5) / (lastLayer + 1)) * (HEIGHT - 2 * EDGE)
  return entropy_first.map((first, layer) => (
    <g key={layer}>
      <path className="gallery-change" d={`M${x(first)} ${y(layer)}H${x(entropy_last[layer])}`} />
      <circle className="gallery-first" cx={x(first)} cy={y(layer)} r="3" />
      <circle className="gallery-last" cx={x(entropy_last[layer])} cy={y(layer)} r="3" />
    </g>
  ))
}

/** Rewards that are shares in per cent, others as numbers. */
const rewardWords = (value: number, isShare: boolean): string =>
  isShare ? `${Math.round(100 * value)} %` : value.toFixed(2).replace('-', '−')

const curveWords = (isModels: boolean, is_held_out = false): string => {
  if (is_held_out) return 'Right samples on held-out problems'
  return isModels ? 'Mean score of samples by the reward model' : 'Mean reward of samples'
}

interface RunPictureProps {
  readonly figures: PresetFigures
  /** Whether the reward is between 0 and 1. */
  readonly isShare: boolean
  /** Whether a reward model gives it. */
  readonly isModels: boolean
}

export function RunPicture({ figures, isShare, isModels }: RunPictureProps) {
  const { reward, seeds, steps, entropy_first, entropy_last, is_held_out = false } = figures
  const at = (end: 0 | -1) =>
    rewardWords(mean(reward.map((points) => points.at(end)?.[1] ?? 0)), isShare || is_held_out)
  const final = (entropies: readonly number[]) => entropies[entropies.length - 1].toFixed(2)
  return (
    <figure className="gallery-picture">
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} aria-hidden="true">
        <Curves figures={figures} />
        <Layers figures={figures} />
      </svg>
      <figcaption className="soft">
        {curveWords(isModels, is_held_out)} {at(0)} → {at(-1)} in {steps} steps; entropy of the
        final policy {final(entropy_first)} → {final(entropy_last)} nats.{' '}
        {seeds.length === 1 ? '1 run' : `${seeds.length} runs`}.
      </figcaption>
    </figure>
  )
}
