// Holds which dialog of the page is open. One at most.
import { createStore } from 'zustand/vanilla'

export type DialogName =
  | 'palette'
  | 'help'
  | 'export'
  | 'model'
  | 'reward'
  | 'tools'
  | 'data'
  | 'glossary'
  | 'found-runs'
  | 'presets'

export const dialogStore = createStore<{ readonly open: DialogName | undefined }>(() => ({
  open: undefined,
}))

export const showDialog = (open: DialogName): void => dialogStore.setState({ open })

/** Closes this dialog, unless another one has taken its place. */
export const closeDialog = (name: DialogName): void =>
  dialogStore.setState((state) => (state.open === name ? { open: undefined } : state))
