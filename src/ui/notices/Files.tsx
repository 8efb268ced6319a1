// Says near Train what is wrong with the files of the experiment. Only some experiments have files,
// so the words are loaded when needed.
import { useStore } from 'zustand'
import { type Contents, contentsStore } from '../../page/contents/here.ts'
import { lazyPart } from '../part/lazy_part.tsx'

const MissingFiles = lazyPart(async () => (await import('../data/MissingFiles.tsx')).MissingFiles, {
  name: 'The missing files',
  fallback: null,
})

const areWrong = ({ status }: Contents) => status === 'missing' || status === 'broken'

export function Files() {
  return useStore(contentsStore, areWrong) ? <MissingFiles /> : null
}
