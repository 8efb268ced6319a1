// Saves the opened model as a download: its files in one archive, with the adapter that is merged
// into it.
import { openedModelStore, saveModel } from '../../../page/opened/opened_model.ts'
import { saveFile } from '../../kit/save.ts'

/** Bytes of a file that are read at a time. */
const PIECE_BYTES = 2 ** 24

async function* piecesOf(blob: Blob): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  for (let at = 0; at < blob.size; at += PIECE_BYTES)
    yield new Uint8Array(await blob.slice(at, at + PIECE_BYTES).arrayBuffer())
}

export const saveOpened = (): void =>
  saveModel(async (name, files) => {
    try {
      const { zipOf } = await import('../../kit/zip.ts')
      const given = files.map(({ path, blob }) => ({ path, pieces: piecesOf(blob) }))
      saveFile(`${name}.zip`, await zipOf(name, given))
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error)
      openedModelStore.setState({ problem: `It could not be written: ${problem}` })
    }
  })
