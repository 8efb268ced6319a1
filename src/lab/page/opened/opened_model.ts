// The model that a person opened to look at: what is known of it, the text that was read last, and what went wrong.
import { createStore } from 'zustand/vanilla'
import type { Lens } from '../../protocol/observation.ts'
import type { OpenedModelFacts } from '../../protocol/opened_model.ts'
import type { LabEvent } from '../../protocol/protocol.ts'
import { connect, isConnected, onLabEvent, post } from '../client/connection.ts'

export interface OpenedModelState {
  /** Of the folder. */
  readonly name: string
  readonly files: readonly File[]
  /** The name of the adapter's folder; '' without one. */
  readonly adapter: string
  readonly is_busy: boolean
  readonly facts: OpenedModelFacts | undefined
  readonly read: { readonly text: string; readonly lens: Lens } | undefined
  readonly problem: string | undefined
}

const NOTHING: OpenedModelState = {
  ...{ name: '', files: [], adapter: '', is_busy: false },
  ...{ facts: undefined, read: undefined, problem: undefined },
}

export const openedModelStore = createStore<OpenedModelState>(() => NOTHING)
const set = openedModelStore.setState

let is_heard = false

/** Hears the worker, and starts one where there is none. */
function listen(): void {
  if (!is_heard) onLabEvent(hear)
  is_heard = true
  if (!isConnected()) connect()
}

function hear(event: LabEvent): void {
  if (event.type === 'model_opened') set({ facts: event.model, is_busy: false, problem: undefined })
  else if (event.type === 'model_read')
    set({ read: { text: event.text, lens: event.lens }, is_busy: false, problem: undefined })
  else if (event.type === 'model_failed')
    set({ problem: event.message, is_busy: false, ...(event.is_open ? {} : { facts: undefined }) })
}

/** Opens the model of a folder, with the files of an adapter where there are some. */
export function openModel(
  name: string,
  files: readonly File[],
  adapter: { readonly name: string; readonly files: readonly File[] } = { name: '', files: [] },
): void {
  listen()
  set({ ...NOTHING, name, files, adapter: adapter.name, is_busy: true })
  post({ type: 'open_model', files, adapter: adapter.files })
}

/** What every layer says of a text; of a model without a tokenizer, of ids. */
export function readText(text: string): void {
  listen()
  set({ is_busy: true, problem: undefined })
  post({ type: 'read_text', text })
}

/** Frees the model. */
export function closeModel(): void {
  if (openedModelStore.getState().name === '') return
  set(NOTHING)
  if (isConnected()) post({ type: 'close_model' })
}
