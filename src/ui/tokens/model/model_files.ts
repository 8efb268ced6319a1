// Takes files of a folder as a model or an adapter by their names, and opens the dialog that shows
// them.
import {
  addAdapter,
  closeModel,
  type FirstTry,
  openedModelStore,
  openModel,
} from '../../../page/opened/opened_model.ts'
import { dialogStore, showDialog } from '../../open/dialogs.ts'

const has = (files: readonly File[], name: string) => files.some((file) => file.name === name)

/** What a folder holds; undefined where it is neither. An adapter may lie beside its model. */
export function modelKind(files: readonly File[]): 'model' | 'adapter' | undefined {
  if (has(files, 'config.json')) return 'model'
  return has(files, 'adapter_config.json') ? 'adapter' : undefined
}

/** Opens a model, with what to try first with it, or merges an adapter into the one that is open.
 * In a sentence, why that cannot be. */
export function openModelFiles(
  name: string,
  files: readonly File[],
  firstTry?: FirstTry,
): string | undefined {
  if (modelKind(files) === 'model') {
    const adapter = has(files, 'adapter_config.json') && { adapter: { name, files } }
    openModel(name, files, { ...adapter, ...(firstTry && { firstTry }) })
  } else if (openedModelStore.getState().facts.first) addAdapter({ name, files })
  else
    return 'This is an adapter. Open the folder of the model that it was trained on first, then this one.'
  showDialog('model')
  return undefined
}

/** The dialog without a model: for one that lies on a server or in the browser's storage. */
export const openModels = (): void => showDialog('model')

// Models hold memory of the GPU for as long as they are shown.
dialogStore.subscribe(({ open }, before) => {
  if (before.open === 'model' && open !== 'model') closeModel()
})
