// Writes and reads an entry of steering as a link has it: 40,next_phase or
// 66,insert_phase,rl,target_layer:2,steps:4 or
// 80,set,actor.optim.lr,0.0005. Takes hostile input and never throws.

import { show } from '../../rl/fields/field.ts'
import { newPhase } from '../experiment/experiment.ts'
import { type Document, isDocument, setAt, valueAt } from '../experiment/fields/paths.ts'
import type { PhaseDocument } from '../experiment/fields/phases.ts'
import type { Experiment } from '../experiment/schema/schema.ts'
import { withObeyable } from '../experiment/steered/obeyable.ts'
import type { SteeringEntry } from '../experiment/steering/actions.ts'

/** A value as text; text that could be read as something else is quoted. */
function writeValue(value: unknown): string {
  if (typeof value !== 'string') return String(value)
  const plain = encodeURIComponent(value)
  return typeof readValue(plain) === 'string' && !plain.startsWith("'") ? plain : `'${plain}`
}

function readValue(text: string): unknown {
  if (text.startsWith("'")) return decoded(text.slice(1))
  if (text === 'true' || text === 'false') return text === 'true'
  if (text === 'null') return null
  return /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(text) ? Number(text) : decoded(text)
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Every value of a document that is no object, with its path; a pair counts as one. */
function leaves(document: object, path = ''): [string, unknown][] {
  return Object.entries(document).flatMap(([name, value]) => {
    const at = path === '' ? name : `${path}.${name}`
    return isDocument(value) ? leaves(value, at) : [[at, value] as [string, unknown]]
  })
}

/** The kind, and what differs from a phase of that kind of which nothing is said: of the whole
 * model, which a new phase of distillation is not. */
function writePhase(phase: PhaseDocument): string[] {
  const plain = { ...newPhase(phase.kind), target_layer: 'final' }
  const changes = leaves(phase)
    .filter(([path, value]) => JSON.stringify(valueAt(plain, path)) !== JSON.stringify(value))
    .map(([path, value]) => {
      const words = Array.isArray(value) ? value.map(writeValue).join(';') : writeValue(value)
      return `${path}:${words}`
    })
  return [phase.kind, ...changes]
}

function readPhase([kind, ...changes]: readonly string[]): unknown {
  const phase: Document = { kind }
  for (const change of changes) {
    const at = change.indexOf(':')
    const [path, text] = [change.slice(0, at), change.slice(at + 1)]
    const value = text.includes(';') ? text.split(';').map(readValue) : readValue(text)
    if (at < 0 || !setAt(phase, path, value)) return undefined
  }
  return phase
}

export function writeEntry(entry: SteeringEntry): string {
  const words = (): (string | number)[] => {
    switch (entry.kind) {
      case 'insert_phase':
      case 'interrupt_phase':
      case 'follow_phase':
      case 'append_phase':
        return writePhase(entry.phase)
      case 'remove_phase':
        return [entry.index]
      case 'move_phase':
        return [entry.index, entry.to]
      case 'set':
        return [entry.path, writeValue(entry.value)]
      case 'kernels':
        return [entry.kernels]
      default:
        return []
    }
  }
  return [entry.step, entry.kind, ...words()].join(',')
}

const WITH_PHASE: readonly string[] = [
  'insert_phase',
  'interrupt_phase',
  'follow_phase',
  'append_phase',
] satisfies SteeringEntry['kind'][]

/** An entry as a document, not parsed yet; undefined where it is none. */
export function readEntry(text: string): unknown {
  const [step, kind, ...words] = text.split(',')
  if (!/^\d+$/.test(step) || kind === undefined) return undefined
  const entry = { step: Number(step), kind }
  if (WITH_PHASE.includes(kind)) {
    const phase = readPhase(words)
    return phase === undefined ? undefined : { ...entry, phase }
  }
  if (kind === 'remove_phase') return { ...entry, index: Number(words[0]) }
  if (kind === 'move_phase') return { ...entry, index: Number(words[0]), to: Number(words[1]) }
  if (kind === 'kernels') return { ...entry, kernels: words.join() }
  if (kind === 'set') return { ...entry, path: words[0], value: readValue(words[1] ?? '') }
  return entry
}

/** Takes the entries of a link out of its pairs, each with the name it has there. */
export function readSteering(pairs: Map<string, string>, notices: string[]): [string, unknown][] {
  const names = [...pairs.keys()].filter((name) => /^steering\.\d{1,3}$/.test(name))
  const number = (name: string) => Number(name.split('.')[1])
  const entries: [string, unknown][] = []
  for (const name of names.sort((a, b) => number(a) - number(b))) {
    const text = pairs.get(name) ?? ''
    pairs.delete(name)
    const entry = readEntry(text)
    if (entry === undefined)
      notices.push(`${name}: expected a step, a comma and what is done, got ${show(text)}.`)
    else entries.push([name, entry])
  }
  return entries
}

/** The experiment with what is done to it; entries that cannot be obeyed are left out. */
export function withSteering(
  experiment: Experiment,
  entries: readonly [string, unknown][],
  notices: string[],
): Experiment {
  if (entries.length === 0) return experiment
  return withObeyable(
    experiment,
    entries.map(([, entry]) => entry),
    (index, { path, message }) => {
      const [name] = entries[index]
      notices.push(`${path === '' ? name : `${name}.${path}`}: ${message}. Left out.`)
    },
  )
}
