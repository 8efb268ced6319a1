// Says what the ends of a run hide: settings and phases that were changed while it trained, and a
// score that was clearly lower or higher in between.

import { numberWords } from '../../../document/experiment/fields/number_words.ts'
import { experimentFields } from '../../../document/experiment/form/form.ts'
import { placeWords } from '../../../document/experiment/form/setting_words.ts'
import { fieldChanges } from '../../../document/experiment/steered/field_changes.ts'
import type { SteeringEntry } from '../../../document/experiment/steering/actions.ts'
import { phaseWords, steeringWords } from '../../../document/experiment/steering/words.ts'
import type { LabState } from '../../../page/state/store.ts'
import { formatSteps } from '../../kit/format.ts'
import { isClear } from '../../kit/mean.ts'
import { greedyAccuracy } from '../../shown/metrics.ts'
import { percent } from './captions.ts'

interface Change {
  readonly step: number
  readonly line: string
}

/** 'After step 24 a phase was inserted: GRPO (3 steps).'; undefined for what changed no phase. */
function phaseLine({ step, ...action }: SteeringEntry): string | undefined {
  if (action.kind === 'set' || action.kind === 'kernels') return undefined
  if (!('phase' in action)) return `After step ${step}: ${steeringWords(action)}.`
  const { phase } = action
  const words = `${phaseWords(phase)} (${formatSteps(phase.steps)})`
  return action.kind === 'append_phase'
    ? `After step ${step} a phase was added: ${words}.`
    : `After step ${step} a phase was inserted: ${words}.`
}

/** What was done to the list of phases. */
const phaseChanges = ({ steered }: LabState): readonly Change[] =>
  steered.flatMap(({ entry, refused }) => {
    const line = refused === undefined ? phaseLine(entry) : undefined
    return line === undefined ? [] : { step: entry.step, line }
  })

/** 'After step 12 the learning rate became 0.001.' */
function settingChanges({ runDocument, ...state }: LabState): readonly Change[] {
  if (!runDocument) return []
  const fields = experimentFields(runDocument)
  return [...fieldChanges({ ...state, document: runDocument })].flatMap(([path, values]) =>
    values.slice(1).map(({ step, value }) => {
      const label = fields.find((field) => field.path === path)?.label ?? path
      const name = `${placeWords(path)}${label}`
      const said = typeof value === 'number' ? numberWords(value) : `${value ?? 'none'}`
      return { step, line: `After step ${step}, “${name}” became ${said}.` }
    }),
  )
}

const changeLines = (state: LabState): readonly string[] =>
  [...settingChanges(state), ...phaseChanges(state)]
    .toSorted((a, b) => a.step - b.step)
    .map(({ line }) => line)

/** 'In between, greedy answers fell to 48 % at step 10.', where that is clear against both ends. */
function scoreLines({ runExperiment, series }: LabState): readonly string[] {
  const column = series.get(greedyAccuracy(runExperiment?.task.id ?? ''))
  const points = Array.from({ length: column?.length ?? 0 }, (_, i) => ({
    step: column?.steps[i] ?? 0,
    share: column?.values[i] ?? Number.NaN,
  })).filter(({ share }) => Number.isFinite(share))
  const [first, last] = [points[0], points.at(-1)]
  if (!first || !last) return []
  const problems = runExperiment?.validation.prompts ?? 0
  const shares = points.map(({ share }) => share)
  const stepOf = (extreme: number, nearer: number) =>
    extreme !== nearer && isClear([extreme, nearer], problems)
      ? points.find(({ share }) => share === extreme)?.step
      : undefined
  const [low, high] = [Math.min(...shares), Math.max(...shares)]
  const fell = stepOf(low, Math.min(first.share, last.share))
  const rose = stepOf(high, Math.max(first.share, last.share))
  return [
    ...(fell === undefined
      ? []
      : [`In between, greedy answers fell to ${percent(low)} right at step ${fell}.`]),
    ...(rose === undefined
      ? []
      : [`In between, greedy answers rose to ${percent(high)} right at step ${rose}.`]),
  ]
}

/** What happened between the beginning of a run and its end, in sentences. */
export const onTheWay = (state: LabState): readonly string[] => [
  ...changeLines(state),
  ...scoreLines(state),
]
