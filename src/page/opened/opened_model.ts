// Holds the models that a person opened to look at: what is known of them, what was read and
// written last, and what went wrong.
import { createStore } from 'zustand/vanilla'
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import { namedModels } from '../../host/content/named.ts'
import type {
  Asked,
  DirectionPlace,
  FoundModel,
  KeptFacts,
  ModelPlace,
  ModelProgress,
  ModelReading,
  ModelStart,
  NamedFiles,
  OpenedModelFacts,
  SavedFile,
  WritingSettings,
  WrittenPart,
} from '../../host/protocol/opened_model.ts'
import type { LabEvent } from '../../host/protocol/protocol.ts'
import { connect, isConnected, onLabEvent, post } from '../connection/connection.ts'
import { findContents } from '../contents/contents.ts'
import { contentsStore } from '../contents/here.ts'
import { nextExperiment } from '../state/next_experiment.ts'
import { labStore } from '../state/store.ts'

/** What a model was asked to continue, and what it wrote so far. */
export interface Written {
  /** The conversation before the answer, or the text that is continued. */
  readonly asked: Asked
  readonly text: string
  readonly parts: readonly WrittenPart[]
  readonly is_done: boolean
  /** It ended at the most tokens that it may have. */
  readonly is_cut?: boolean
}

/** Two texts that make a direction, and the layer that it does most after. */
export interface FirstDirection {
  readonly toward: string
  readonly away: string
  readonly layer: number
}

/** What to try first with a model. */
export interface FirstTry {
  /** The model of the lab's own that it was made of. */
  readonly of?: string
  /** To begin with. */
  readonly text?: string
  /** It has seen no conversations, so it continues a text although its folder has a template. */
  readonly continues?: boolean
  readonly max_tokens?: number
  /** As they were chosen for another state of the model. */
  readonly settings?: WritingSettings
  /** Its answers are right or wrong, so it writes the likeliest. */
  readonly greedy?: boolean
  /** What it learned to do, where a task of the lab can tell whether it does. */
  readonly experiment?: Pick<Experiment, 'task' | 'seed'> & Partial<Pick<Experiment, 'reward'>>
  readonly direction?: FirstDirection
}

export interface OpenedModelState {
  /** Where the next model is opened. */
  readonly place: ModelPlace
  readonly name: string
  /** Suggestions that came with the first model; undefined = only those for its name. */
  readonly firstTry: FirstTry | undefined
  /** The address that a person wants to look at next; '' = they type one. */
  readonly sought: string
  readonly isBusy: boolean
  /** The files of a model are being made: of a run, whose step in flight ends first. */
  readonly isMaking: boolean
  readonly facts: Partial<Record<ModelPlace, OpenedModelFacts>>
  readonly found: FoundModel | undefined
  readonly progress: ModelProgress | undefined
  readonly kept: { readonly models: readonly KeptFacts[]; readonly can_keep: boolean } | undefined
  readonly read: { readonly text: string; readonly readings: readonly ModelReading[] } | undefined
  readonly written: Written | undefined
  /** The direction that the first model writes with: the size of each layer's vector. */
  readonly direction: readonly number[] | undefined
  readonly problem: string | undefined
  /** What was asked last, by the field or the button that asked it: there the problem is said. */
  readonly askedBy:
    | 'text'
    | 'writing'
    | 'address'
    | 'folder'
    | 'kept'
    | 'shipped'
    | 'uses'
    | undefined
}

const NOTHING: OpenedModelState = {
  place: 'first',
  name: '',
  firstTry: undefined,
  sought: '',
  isBusy: false,
  isMaking: false,
  facts: {},
  found: undefined,
  progress: undefined,
  kept: undefined,
  read: undefined,
  written: undefined,
  direction: undefined,
  problem: undefined,
  askedBy: undefined,
}

export const openedModelStore = createStore<OpenedModelState>(() => NOTHING)
const set = openedModelStore.setState

let isHeard = false

/** Hears the worker, and starts one where there is none. */
function listen(): void {
  if (!isHeard) onLabEvent(hear)
  isHeard = true
  if (!isConnected()) connect()
}

const DONE = { isBusy: false, problem: undefined, progress: undefined } as const

function hear(event: LabEvent): void {
  const state = openedModelStore.getState()
  switch (event.type) {
    case 'model_opened': {
      const facts = { ...state.facts, [event.place]: event.model }
      const direction = event.place === 'first' ? undefined : state.direction
      set({ ...DONE, facts, direction, found: undefined, read: undefined })
      return void bringStart(event.model)
    }
    case 'model_found':
      return set({ ...DONE, found: event.model })
    case 'model_progress':
      return set({ progress: event.progress })
    case 'models_kept':
      set({ kept: event, isBusy: false, progress: undefined })
      return lookAgain()
    case 'model_read':
      return set({ ...DONE, read: event })
    case 'model_written': {
      if (!state.written) return
      const { text, is_done, is_cut = false } = event
      const parts = [...state.written.parts, ...event.parts]
      const written = { ...state.written, text, parts, is_done, is_cut }
      return set({ written, isBusy: !is_done })
    }
    case 'model_directed':
      return set({ ...DONE, direction: event.sizes.length > 0 ? event.sizes : undefined })
    case 'model_start':
      set(DONE)
      return void onStart?.(event.start)
    case 'model_saved':
      set(DONE)
      return void onSaved?.(event.name, event.files)
    case 'model_failed': {
      const facts = Object.fromEntries(event.open.map((place) => [place, state.facts[place]]))
      // A text that the model refused is no answer of its.
      const { written: before } = state
      const written = before && before.parts.length > 0 ? { ...before, is_done: true } : undefined
      // An older reading is of another text than the field holds now.
      const read = state.askedBy === 'text' ? undefined : state.read
      const name = facts.first ? state.name : ''
      return set({ ...DONE, name, facts, written, read, problem: event.message })
    }
  }
}

/** An experiment that begins with a model waits until that is kept here: the list of its files is
 * what the document names. */
async function bringStart({ lists, is_kept }: OpenedModelFacts): Promise<void> {
  const { missing } = contentsStore.getState()
  const wanted = lists.filter(({ hash }) => is_kept && missing.some((file) => file.hash === hash))
  if (wanted.length === 0) return
  const { bringContent } = await import('../contents/content_files.ts')
  for (const { name, list } of wanted)
    await bringContent(name, new Uint8Array(new TextEncoder().encode(list)))
}

/** What is kept or forgotten may be what the settings name. */
function lookAgain(): void {
  const experiment = nextExperiment(labStore.getState())
  if (namedModels(experiment).length > 0) void findContents(experiment)
}

/** What is done with the model that a person wants to train. */
let onStart: ((start: ModelStart) => void) | undefined

/** Makes the first model the start of an experiment: its files are kept, then `use` gets what the
 * settings need. `has_adapter`: the run trains an adapter in place of the weights. */
export function trainFrom(has_adapter: boolean, use: (start: ModelStart) => void): void {
  onStart = use
  begin({ askedBy: 'uses' })
  post({ type: 'start_from', has_adapter })
}

/** What an experiment that learns from a model says of it, without a look into it: of files, which
 * are then kept, or of a folder that is kept. Rejects with a sentence for people. */
export function startOf(of: NamedFiles | { readonly folder: string }): Promise<ModelStart> {
  onStart = undefined
  listen()
  return new Promise((resolve, reject) => {
    const stop = onLabEvent((event) => {
      if (event.type === 'model_start') resolve(event.start)
      else if (event.type === 'model_failed') reject(new RangeError(event.message))
      else return
      stop()
    })
    post({ type: 'start_of', of })
  })
}

type OnSaved = (name: string, files: readonly SavedFile[]) => void
let onSaved: OnSaved | undefined

/** Makes a folder of the first model, its adapter merged, and hands it over. */
export function saveModel(use: OnSaved): void {
  onSaved = use
  begin({ askedBy: 'uses' })
  post({ type: 'save_model' })
}

const begin = (change: Partial<OpenedModelState> = {}) => {
  listen()
  set({ isBusy: true, problem: undefined, askedBy: undefined, ...change })
}

/** What a model that is opened in a place makes untrue. */
function without(place: ModelPlace): Partial<OpenedModelState> {
  const { first } = openedModelStore.getState().facts
  const facts = place === 'second' && first ? { first } : {}
  return { facts, read: undefined, written: undefined, found: undefined }
}

/** Where the next model goes: beside the first, or in its place. */
export const nextPlace = (place: ModelPlace): void => set({ place })

/** What may come with the files of a model. */
interface BesideFiles {
  readonly adapter?: NamedFiles
  /** By layer, 0 to L: added to its states. */
  readonly vectors?: readonly Float32Array[]
  readonly firstTry?: FirstTry
}

/** Opens the model of a folder. */
export function openModel(
  name: string,
  files: readonly File[],
  { adapter = { name: '', files: [] }, vectors, firstTry }: BesideFiles = {},
): void {
  const { place } = openedModelStore.getState()
  if (place === 'first') freeAll()
  begin({ ...without(place), ...(place === 'first' && { name, firstTry }) })
  post({ type: 'open_model', place, name, files, adapter, ...(vectors && { vectors }) })
}

/** Merges an adapter into the first model. */
export function addAdapter(adapter: NamedFiles): void {
  begin({ read: undefined, written: undefined })
  post({ type: 'add_adapter', adapter })
}

/** The next dialog asks for the model of this address. */
export const seek = (address: string): void => set({ sought: address })

/** Looks for a model through a port of fetch.html. */
export function findModel(address: string, port: MessagePort): void {
  begin({ found: undefined, sought: '', askedBy: 'address' })
  post({ type: 'find_model', place: openedModelStore.getState().place, address, port }, [port])
}

export function fetchModel(): void {
  const { place, found, name } = openedModelStore.getState()
  const newName = (place === 'first' && found?.name) || name
  begin({ ...without(place), found, name: newName, askedBy: 'address' })
  // Half of the models are too large for a browser to keep when its disk is full: then it may not
  // throw this one away unasked.
  void navigator.storage?.persist?.()
  post({ type: 'fetch_model' })
}

export function openKept(folder: string): void {
  const { place } = openedModelStore.getState()
  begin({ read: undefined, written: undefined, found: undefined, askedBy: 'kept' })
  post({ type: 'open_kept', place, folder })
}

export function keepModel(place: ModelPlace): void {
  begin({ askedBy: 'uses' })
  void navigator.storage?.persist?.()
  post({ type: 'keep_model', place })
}

export function forgetModel(folder: string): void {
  begin({ askedBy: 'kept' })
  post({ type: 'forget_model', folder })
}

export function listModels(): void {
  listen()
  post({ type: 'list_models' })
}

/** Ends what is under way. */
export const cancelModel = (): void => post({ type: 'cancel_model' })

/** What every layer of every open model says of a text; of a model without a tokenizer, of ids. */
export function readText(
  text: string,
  add_special_tokens: boolean,
  wants: { readonly changes: boolean; readonly parts: boolean },
): void {
  begin({ askedBy: 'text' })
  const { changes: wants_changes, parts: wants_parts } = wants
  post({ type: 'read_text', text, add_special_tokens, wants_changes, wants_parts })
}

/** Lets the first model answer a conversation, or continue a text. What was read stays. */
export function writeText(asked: Asked, settings: WritingSettings): void {
  begin({ askedBy: 'writing', written: { asked, text: '', parts: [], is_done: false } })
  post({ type: 'write_text', asked, settings })
}

/** Lets the first model write with the direction from one text to another; with two empty texts,
 * without one. */
export function directModel(toward: string, away: string): void {
  begin()
  post({ type: 'direct_model', toward, away })
}

/** Where the direction is added and how strongly, from the next tokens on. */
export const steerModel = (place: DirectionPlace): void => post({ type: 'steer_model', ...place })

/** What every layer said where a token was written. */
export function lookBack(at: number): void {
  begin()
  post({ type: 'look_back', at })
}

function freeAll(): void {
  const { kept } = openedModelStore.getState()
  if (openedModelStore.getState() === NOTHING) return
  set({ ...NOTHING, kept })
  if (isConnected()) post({ type: 'close_model' })
}

/** Ends what is under way and frees the models. */
export function closeModel(): void {
  freeAll()
  set(NOTHING)
}

/** Frees the model beside the first. */
export function closeSecond(): void {
  const { first } = openedModelStore.getState().facts
  set({ facts: first ? { first } : {}, place: 'first', read: undefined })
  post({ type: 'close_model', place: 'second' })
}
