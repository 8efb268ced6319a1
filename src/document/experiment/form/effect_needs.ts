// Finds which other settings would give one an effect.
import { type FieldValue, leavesOf } from '../../../rl/fields/field.ts'
import { isDocument, setAt } from '../fields/paths.ts'
import { OVERRIDABLE } from '../schema/document_fields.ts'
import { type PhaseSettings, settingsOf } from '../schema/phase_settings.ts'
import type { Experiment } from '../schema/schema.ts'
import { hasEffect } from './conditions.ts'
import { experimentFields } from './form.ts'
import type { Field } from './form_fields.ts'
import { phaseFields } from './phase_form.ts'

/** A setting that would have to be another: any of these values would do. */
export interface Need {
  readonly field: Field
  readonly values: readonly FieldValue[]
}

/** Settings that one alone does not give an effect. */
const MOST_NEEDS = 3

/** What else a setting could be. Of a number: nothing, and a little more. */
function otherValues({ kind, value, options = [], none, min = 0, max }: Field): FieldValue[] {
  if (kind === 'boolean') return [!value]
  if (kind === 'select') return options.map((own) => own.value).filter((own) => own !== value)
  if (kind === 'text') return []
  const more = typeof value === 'number' ? [value + 1] : [min, min + 1]
  const allowed = more.filter((own) => max === undefined || own <= max)
  return none === undefined || value === null ? allowed : [null, ...allowed]
}

function changed<T extends object>(document: T, changes: readonly [string, FieldValue][]): T {
  const copy = structuredClone(document)
  for (const [path, value] of changes) setAt(copy, path, value)
  return copy
}

/** The document, which writes down what is read of it. */
function noted<T extends object>(document: T, read: Set<string>, path = ''): T {
  return new Proxy(document, {
    get(target, name, receiver) {
      const at = `${path}${String(name)}`
      read.add(at)
      const value = Reflect.get(target, name, receiver)
      return isDocument(value) ? noted(value, read, `${at}.`) : value
    },
  })
}

/** The fewest changes of what a condition reads under which it holds. */
function fewestNeeds(
  settings: PhaseSettings,
  name: string,
  fieldOf: (name: string) => Field | undefined,
): readonly Need[] {
  const holds = (document: PhaseSettings) => hasEffect(name, document)
  let tried: { needs: Need[]; changes: [string, FieldValue][] }[] = [{ needs: [], changes: [] }]
  for (let many = 1; many <= MOST_NEEDS; many++) {
    const next: typeof tried = []
    for (const { needs, changes } of tried) {
      const read = new Set<string>()
      holds(noted(changed(settings, changes), read))
      for (const at of read) {
        const field = changes.some(([path]) => path === at) ? undefined : fieldOf(at)
        if (!field) continue
        const values = otherValues(field)
        const good = values.filter((value) => holds(changed(settings, [...changes, [at, value]])))
        if (good.length > 0) return [...needs, { field, values: good }]
        for (const value of values)
          next.push({
            needs: [...needs, { field, values: [value] }],
            changes: [...changes, [at, value]],
          })
      }
    }
    tried = next
  }
  return []
}

const IN_PHASE = /^phases\.(\d+)\.(.+)$/
const SHARED = new Set(leavesOf(OVERRIDABLE).map(([name]) => name))

/** The same of a setting outside of what phases of reinforcement share: one other of its part. */
function needOfPart(experiment: Experiment, path: string, fields: readonly Field[]): Need[] {
  const part = /^(phases\.\d+|[a-z_]+)\./.exec(path)?.[0] ?? ''
  const near = fields.filter(
    (field) =>
      field.hasEffect &&
      field.path.startsWith(part) &&
      !SHARED.has(field.path.slice(part.length)) &&
      field.kind !== 'text',
  )
  for (const field of near) {
    const values = otherValues(field).filter((value) =>
      hasEffectIn(changed(experiment, [[field.path, value]]), path),
    )
    if (values.length > 0) return [{ field, values }]
  }
  return []
}

function hasEffectIn(experiment: Experiment, path: string): boolean {
  const index = Number(IN_PHASE.exec(path)?.[1])
  const fields = index >= 0 ? phaseFields(experiment, index) : experimentFields(experiment)
  return fields.some((field) => field.path === path && field.hasEffect)
}

/** What gives the setting at this path an effect, in the order in which a person would set it;
 * empty where it is not one to three others. */
export function needsOf(experiment: Experiment, path: string): readonly Need[] {
  const fields = experimentFields(experiment)
  const [, of, inPhase] = IN_PHASE.exec(path) ?? []
  const name = inPhase ?? path
  if (!SHARED.has(name)) return needOfPart(experiment, path, fields)
  const index = of ? Number(of) : experiment.phases.findIndex(({ kind }) => kind === 'rl')
  const phase = experiment.phases[index]
  if (phase?.kind !== 'rl') return []
  // Where a phase has no value of its own, that of all phases is the one to change.
  const byPath = new Map(fields.map((field) => [field.path, field]))
  const fieldOf = (at: string) => {
    const own = byPath.get(`phases.${index}.${at}`)
    return own?.isOverridden === false || (!of && SHARED.has(at)) ? byPath.get(at) : own
  }
  const needs = fewestNeeds(settingsOf(experiment, phase), name, fieldOf)
  const changes = needs.map(({ field, values }): [string, FieldValue] => [field.path, values[0]])
  // What else is asked of it, such as a learning-rate schedule of its own, no setting gives.
  return hasEffectIn(changed(experiment, changes), path) ? needs : []
}
