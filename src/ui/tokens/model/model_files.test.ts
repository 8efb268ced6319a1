// A folder that is chosen as a model is looked into by the names of its files.
import { expect, test } from 'vitest'
import { dialogStore, showDialog } from '../../open/dialogs.ts'
import { openModelFolder } from './model_files.ts'

const fileIn = (path: string) => {
  const file = new File(['hello'], path.split('/').at(-1) ?? '')
  Object.defineProperty(file, 'webkitRelativePath', { value: path })
  return file
}

test('a folder without a model is refused with what it has and should have, and no dialog opens', () => {
  showDialog('model')
  const said = openModelFolder([fileIn('notes/wrong.txt'), fileIn('notes/deep/config.json')])
  expect(said).toContain('“notes” holds no model: it has wrong.txt.')
  expect(said).toContain('config.json and its weights as .safetensors')
  expect(openModelFolder([fileIn('notes/deep/config.json')])).toContain('it has other folders')
  expect(dialogStore.getState().open).toBe('model')
  expect(openModelFolder([fileIn('a/adapter_config.json')])).toContain('This is an adapter.')
})
