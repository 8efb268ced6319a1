// Tells the experiments of a study apart, also after a later version of the lab has added fields.
import { newPhase, parseExperiment } from '../experiment/experiment.ts'
import { isDocument } from '../experiment/fields/paths.ts'
import type { PhaseDocument } from '../experiment/fields/phases.ts'
import { TASK_PARAMS } from '../experiment/fields/task_fields.ts'
import type { Experiment } from '../experiment/schema/schema.ts'

/** 53 bits of a text (cyrb53): enough for the runs of a study. */
function hash(text: string): string {
  let [a, b] = [0xdeadbeef, 0x41c6ce57]
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i)
    a = Math.imul(a ^ c, 2654435761)
    b = Math.imul(b ^ c, 1597334677)
  }
  a = Math.imul(a ^ (a >>> 16), 2246822507) ^ Math.imul(b ^ (b >>> 13), 3266489909)
  b = Math.imul(b ^ (b >>> 16), 2246822507) ^ Math.imul(a ^ (a >>> 13), 3266489909)
  return (4294967296 * (2097151 & b) + (a >>> 0)).toString(36)
}

/** Adds what `own` says otherwise than `usual`, by path. A field that is usual says nothing,
 * whether or not it existed before. */
function unusual(own: unknown, usual: unknown, path: string, into: Map<string, unknown>): void {
  if (isDocument(own))
    for (const name of Object.keys(own).sort())
      unusual(own[name], isDocument(usual) ? usual[name] : undefined, `${path}.${name}`, into)
  else if (JSON.stringify(own) !== JSON.stringify(usual)) into.set(path, own)
}

/** The experiment that a document without a word gives. */
let usual: Experiment | undefined
function usualExperiment(): Experiment {
  if (usual) return usual
  const parsed = parseExperiment({})
  if (!parsed.ok) throw new Error(`the default experiment: ${parsed.issues[0].message}`)
  usual = parsed.experiment
  return usual
}

/** A phase of each kind, as it is without a word about it. */
const phasesOf = new Map<string, PhaseDocument>()
function usualPhase(kind: PhaseDocument['kind']): PhaseDocument {
  const phase = phasesOf.get(kind) ?? newPhase(kind)
  phasesOf.set(kind, phase)
  return phase
}

/** A task as earlier versions wrote it, to whose runs its fingerprint leads: they had a word for no
 * value. */
const asBefore = (task: Experiment['task']): Experiment['task'] => {
  const leaves = TASK_PARAMS.get(task.id)
  const before = Object.entries(task).map(([name, value]) => [
    name,
    value ?? leaves?.[name].info.none ?? null,
  ])
  return Object.fromEntries(before)
}

const known = new WeakMap<Experiment, string>()

/** The same for experiments that train the same, whatever they are called. */
export function fingerprintOf(experiment: Experiment): string {
  const before = known.get(experiment)
  if (before !== undefined) return before
  const said = new Map<string, unknown>()
  const { phases, name: _, ...rest } = experiment
  const { phases: __, name: ___, ...others } = usualExperiment()
  unusual({ ...rest, task: asBefore(rest.task) }, others, '', said)
  for (const [i, phase] of phases.entries()) {
    said.set(`phases.${i}.kind`, phase.kind)
    const { name: ____, ...own } = phase
    unusual(own, usualPhase(phase.kind), `phases.${i}`, said)
  }
  const found = hash(JSON.stringify([...said]))
  known.set(experiment, found)
  return found
}
