// Reads back what a person says of a run: name, notes, tags, colour. What is not understood is as
// if nobody had said it.

import { NO_LABELS, RUN_COLORS, type RunLabels } from '../../../record/run/record.ts'
import { withoutHidden } from '../../../rl/fields/hidden.ts'
import { fieldOf } from './record_fields.ts'

/** Cuts between whole characters, so no half of an emoji stays. */
const text = (value: unknown, longest: number): string =>
  typeof value === 'string'
    ? withoutHidden(value)
        .slice(0, longest)
        .replace(/[\uD800-\uDBFF]$/, '')
        .toWellFormed()
    : ''

export const MAX_NAME = 120
export const MAX_NOTES = 10_000
const MAX_TAG = 40
const MAX_TAGS = 20

/** Tags as they are kept: short, each once, none empty. */
function readTags(value: unknown): readonly string[] {
  const given: readonly unknown[] = Array.isArray(value) ? value.slice(0, 10 * MAX_TAGS) : []
  const tags = given.map((tag) => text(tag, MAX_TAG).replace(/\s+/g, ' ').trim())
  return [...new Set(tags)].filter((tag) => tag !== '').slice(0, MAX_TAGS)
}

/** Tags as a person types them, commas between them, of Chinese too. */
export const parseTags = (typed: string): readonly string[] => readTags(typed.split(/[,，、]/))

/** Labels of a run; what is not understood is as if nobody had said it. */
export function readLabels(value: unknown, id: string, color: number): RunLabels {
  const own = fieldOf(value, 'color')
  const is = (name: string) => fieldOf(value, name) === true
  return {
    ...NO_LABELS,
    id,
    name: text(fieldOf(value, 'name'), MAX_NAME),
    notes: text(fieldOf(value, 'notes'), MAX_NOTES),
    tags: readTags(fieldOf(value, 'tags')),
    color: Number.isInteger(own) && Number(own) >= 0 ? Number(own) % RUN_COLORS.length : color,
    pinned: is('pinned'),
    hidden: is('hidden'),
    baseline: is('baseline'),
  }
}
