// Undoes and redoes changes of settings. What a run does to them by itself is no edit, and no undo
// takes it back.

import { createStore } from 'zustand/vanilla'
import { parseExperiment } from '../../document/experiment/experiment.ts'
import { numberWords } from '../../document/experiment/fields/number_words.ts'
import { isDocument } from '../../document/experiment/fields/paths.ts'
import { experimentFields } from '../../document/experiment/form/form.ts'
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import { presetOf } from '../../document/presets/presets.ts'
import { dropWrong, type Edit, onEdit, wrongFields } from '../../page/client/edits.ts'
import { restoreSettings } from '../../page/client/restoring.ts'
import { type Settings, settingsIn } from '../../page/client/stage.ts'
import { type LabState, labStore } from '../../page/state/store.ts'
import { isBusy } from '../../record/run/run_parts.ts'

/** One entry: where the settings came from, where they went, and that in words. */
export interface Entry {
  readonly before: Settings
  readonly after: Settings
  /** The field that was edited; undefined where it was more than one. */
  readonly path: string | undefined
  readonly words: string
  /** Another experiment was opened. */
  readonly isOther?: true
  /** How often a person had changed the phases of the run by then. */
  readonly moves?: number
}

/** Entries that can be undone and redone, each oldest first. */
export interface History {
  readonly past: readonly Entry[]
  readonly future: readonly Entry[]
  /** When the newest entry last grew, in ms; undefined once it is complete. */
  readonly grownAtMs: number | undefined
}

export const MAX_ENTRIES = 100
/** Changes of one field nearer than this belong together: a slider passes many values. */
export const TOGETHER_MS = 1000

/** Each change of these is an entry of its own. */
const WHOLE: readonly string[] = ['phases', 'steering']

export const emptyHistory = (): History => ({ past: [], future: [], grownAtMs: undefined })

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)

/** The history after an edit; what could be redone before it no longer can. */
export function record(history: History, edit: Edit, atMs: number, moves = 0): History {
  const path = edit.kind === 'field' ? edit.path : undefined
  const last = history.past.at(-1)
  const isGrowth =
    path !== undefined &&
    !WHOLE.includes(path) &&
    last?.path === path &&
    history.grownAtMs !== undefined &&
    atMs - history.grownAtMs < TOGETHER_MS
  const { before } = isGrowth && last ? last : edit
  const rest = isGrowth ? history.past.slice(0, -1) : history.past
  const { after } = edit
  if (isSame(before, after)) {
    // A slider that came back, or a choice of what was chosen already.
    return isGrowth ? { past: rest, future: [], grownAtMs: undefined } : history
  }
  const isOther = edit.kind === 'preset' || edit.kind === 'file'
  const words = editWords({ ...edit, before })
  const entry: Entry = { before, after, path, words, moves, ...(isOther && { isOther }) }
  return { past: [...rest, entry].slice(-MAX_ENTRIES), future: [], grownAtMs: atMs }
}

/** The history after an undo. */
export function stepBack({ past, future }: History): History {
  const last = past.at(-1)
  if (!last) return { past, future, grownAtMs: undefined }
  return { past: past.slice(0, -1), future: [last, ...future], grownAtMs: undefined }
}

/** The history after a redo. */
export function stepForth({ past, future }: History): History {
  const [next, ...rest] = future
  if (!next) return { past, future, grownAtMs: undefined }
  return { past: [...past, next], future: rest, grownAtMs: undefined }
}

/** `current` with the changes that lead from `from` to `to`, as far as it still stands at `from`
 * where they are: what else has changed since then stays. Lists of one length are compared item by
 * item, others as a whole. */
export function carryOver(current: unknown, from: unknown, to: unknown): unknown {
  if (isSame(from, to)) return current
  if (isSame(current, from)) return to
  if (isDocument(current) && isDocument(from) && isDocument(to)) {
    const names = new Set([...Object.keys(current), ...Object.keys(to)])
    const pairs = [...names].map((name) => [name, carryOver(current[name], from[name], to[name])])
    return Object.fromEntries(pairs.filter(([, value]) => value !== undefined))
  }
  const lists = [current, from, to]
  if (lists.every(Array.isArray) && new Set(lists.map((list) => list.length)).size === 1) {
    const [now, a, b] = lists
    return now.map((item: unknown, i: number) => carryOver(item, a[i], b[i]))
  }
  return current
}

/** The settings with an edit taken back (or made again, from the other side); undefined where
 * nothing of it is left. */
export function restored(current: Settings, from: Settings, to: Settings): Settings | undefined {
  const parsed = parseExperiment(carryOver(current.experiment, from.experiment, to.experiment))
  if (!parsed.ok) return undefined
  const preset_id = carryOver(current.preset_id, from.preset_id, to.preset_id) as string
  const isBeside = carryOver(current.isBeside, from.isBeside, to.isBeside) as boolean
  const settings = { experiment: parsed.experiment, preset_id, isBeside }
  return isSame(settings, current) ? undefined : settings
}

/** A value of a setting as a sentence has it. */
export function settingWords(
  value: string | number | boolean | null,
  options: readonly { readonly value: unknown; readonly label: string }[] = [],
): string {
  const option = options.find((candidate) => candidate.value === value)
  if (option) return option.label
  if (typeof value === 'boolean') return value ? 'on' : 'off'
  if (value === null) return 'none'
  if (value === '') return 'empty'
  if (typeof value === 'string') return value.length > 24 ? `${value.slice(0, 24)}…` : value
  return numberWords(value)
}

function phaseWords({ phases: old }: Experiment, { phases: now }: Experiment): string {
  const more = now.length - old.length
  if (more === 0) return 'order of the phases'
  const place = (more > 0 ? now : old).findIndex((_, i) => !isSame(old[i], now[i])) + 1
  return more > 0 ? `add phase ${place}` : `remove phase ${place}`
}

const fieldAt = (path: string, experiment: Experiment) =>
  experimentFields(experiment).find((field) => field.path === path)

/** What a field is called, with its phase. */
function nameOf({ path, label }: { readonly path: string; readonly label: string }): string {
  const where = /^phases\.(\d+)/.exec(path)
  return where ? `phase ${Number(where[1]) + 1}, ${label.toLowerCase()}` : label
}

function fieldWords(path: string, before: Experiment, after: Experiment): string {
  if (path === 'phases') return phaseWords(before, after)
  if (path === 'steering') return 'planned changes'
  const [old, now] = [fieldAt(path, before), fieldAt(path, after)]
  if (!old || !now) return path
  const name = nameOf(old)
  if (old.value === now.value) return name
  return `${name} ${settingWords(old.value, old.options)} → ${settingWords(now.value, now.options)}`
}

/** An edit in words, e.g. 'Learning rate 0.0001 → 0.0003'. */
function editWords(edit: Edit): string {
  const { before, after } = edit
  switch (edit.kind) {
    case 'preset': {
      const name = presetOf(after.preset_id)?.name ?? after.preset_id
      return before.preset_id === after.preset_id ? `back to ${name}` : `open ${name}`
    }
    case 'file':
      return `open ${edit.name}`
    case 'discard':
      return 'discard changes'
    case 'smaller':
      return 'half the batch'
    case 'field':
      return fieldWords(edit.path, before.experiment, after.experiment)
    default:
      return edit satisfies never
  }
}

export const historyStore = createStore<History>(emptyHistory)

/** Begins to write down what a person does to the settings. To be called once per page. */
export function keepHistory(now: () => number = () => performance.now()): void {
  historyStore.setState(emptyHistory())
  onEdit((edit) =>
    historyStore.setState((history) => record(history, edit, now(), movesIn(labStore.getState()))),
  )
}

/** How often a person has changed the phases of the run that is on: inserted, ended, moved one. */
const movesIn = (state: LabState): number =>
  isBusy(state) && !state.isBeside
    ? state.steered.filter(
        ({ entry: { kind }, refused }) =>
          refused === undefined && kind !== 'set' && kind !== 'kernels',
      ).length
    : 0

/** Whether the phases of the run were changed after the newest edit, which no undo takes back. */
export const skipsPhases = (state: LabState, { past }: Pick<History, 'past'>): boolean =>
  movesIn(state) > (past.at(-1)?.moves ?? 0)

function apply(entry: Entry, from: Settings, to: Settings): boolean {
  const settings = restored(settingsIn(labStore.getState()), from, to)
  if (settings) restoreSettings(settings, entry.path, entry.isOther)
  return settings !== undefined
}

/** 'Learning rate is 0.001 again'; undefined where that is not all that changed. */
function againWords(path: string | undefined): string | undefined {
  if (path === undefined || WHOLE.includes(path)) return undefined
  const field = fieldAt(path, labStore.getState().experiment)
  if (!field) return undefined
  const words = `${nameOf(field)} is ${settingWords(field.value, field.options)} again`
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** The settings without what a run that was reset has done by hand to this field: the next one does
 * it again. undefined where nothing is planned of it. */
function withoutPlanned({ path, after }: Entry): Settings | undefined {
  const state = labStore.getState()
  const { steering } = state.experiment
  const value = path && fieldAt(path, after.experiment)?.value
  const rest = steering.filter(
    (done) => done.kind !== 'set' || done.path !== path || done.value !== value,
  )
  if (state.runDocument || rest.length === steering.length) return undefined
  return { ...settingsIn(state), experiment: { ...state.experiment, steering: rest } }
}

/** What happened, in words; undefined where there was nothing to take back. */
export function undo(): string | undefined {
  // What a field did not take was typed last, and is in no entry.
  const wrong = wrongFields(labStore.getState()).at(-1)
  if (wrong) {
    dropWrong(wrong.path)
    return againWords(wrong.path) ?? `Undone: ${wrong.label}`
  }
  const skips = skipsPhases(labStore.getState(), historyStore.getState())
  const entry = historyStore.getState().past.at(-1)
  if (!entry) return skips ? PHASES_STAY : undefined
  historyStore.setState(stepBack)
  const planned = withoutPlanned(entry)
  if (planned) restoreSettings(planned, 'steering')
  if (!planned && !apply(entry, entry.after, entry.before))
    return `${entry.words}: changed again since, so nothing was undone`
  const done = againWords(entry.path) ?? `Undone: ${entry.words}`
  return skips ? `${done}. The phases of the run stay as they were changed since.` : done
}

/** Of a run that is on. */
export const PHASES_STAY =
  'What was done to the phases of a run cannot be undone. Reset it, and leave the changes out.'

/** What happened, in words; undefined where there was nothing to make again. */
export function redo(): string | undefined {
  const entry = historyStore.getState().future[0]
  if (!entry) return undefined
  historyStore.setState(stepForth)
  return apply(entry, entry.before, entry.after)
    ? (againWords(entry.path) ?? `Redone: ${entry.words}`)
    : `${entry.words}: changed since, so nothing was redone`
}
