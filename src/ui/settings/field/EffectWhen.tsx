// Says which other settings would give one an effect, and leads to them.
import { useMemo } from 'react'
import { type Need, needsOf } from '../../../document/experiment/form/effect_needs.ts'
import type { Experiment } from '../../../document/experiment/schema/schema.ts'
import { showSetting } from '../../open/wanted.ts'

/** Choices that are named. */
const MOST_NAMED = 2

function needWords(name: string, { field, values }: Need): string {
  const [value] = values
  if (typeof value === 'boolean') return value ? `${name} is on` : `${name} is off`
  if (value === null) return `${name} is empty`
  if (typeof value === 'number')
    return field.value === null ? `${name} is ${value} or more` : `${name} is above ${field.value}`
  const labels = values.map((own) => field.options?.find((option) => option.value === own)?.label)
  const others = labels.length - MOST_NAMED
  const named = labels
    .slice(0, MOST_NAMED)
    .map((label) => `“${label}”`)
    .join(' or ')
  return others > 0 ? `${name} is ${named} or one of ${others} others` : `${name} is ${named}`
}

interface EffectWhenProps {
  readonly experiment: Experiment
  /** Of the setting without an effect. */
  readonly path: string
  /** What the form calls a setting. */
  readonly nameOf: (field: Need['field']) => string
}

/** Nothing where no one to three other settings give it one. */
export function EffectWhen({ experiment, path, nameOf }: EffectWhenProps) {
  const needs = useMemo(() => needsOf(experiment, path), [experiment, path])
  if (needs.length === 0) return null
  return (
    <button
      type="button"
      className="plain effect-when"
      data-testid={`effect-when-${path}`}
      onClick={() => showSetting(needs[0].field.path)}
    >
      {`Has an effect when ${needs.map((need) => needWords(nameOf(need.field), need)).join(' and ')}.`}
    </button>
  )
}
