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
import { filesAtTop, folderName } from '../../open/models/folder.ts'

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

/** Names of files that a sentence has room for. */
const MOST_NAMED = 3

/** Opens the folder that a person chose as a model or an adapter. In a sentence, why it is none, or
 * cannot be opened. */
export function openModelFolder(all: readonly File[]): string | undefined {
  const files = filesAtTop(all)
  if (all.length === 0) return undefined
  if (modelKind(files)) return openModelFiles(folderName(all), files)
  const names = files.slice(0, MOST_NAMED).map(({ name }) => name)
  const rest = files.length > MOST_NAMED ? ', …' : ''
  const has = names.length === 0 ? 'other folders alone' : `${names.join(', ')}${rest}`
  return `“${folderName(all)}” holds no model: it has ${has}. A model’s folder holds config.json and its weights as .safetensors; an adapter’s holds adapter_config.json and its weights.`
}

/** The dialog without a model: for one that lies on a server or in the browser's storage. */
export const openModels = (): void => showDialog('model')

// Models hold memory of the GPU for as long as they are shown.
dialogStore.subscribe(({ open }, before) => {
  if (before.open === 'model' && open !== 'model') closeModel()
})
