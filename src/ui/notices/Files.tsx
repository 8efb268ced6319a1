// What is wrong with the files of the experiment, near Train; only some experiments have files, so what it says is loaded then.
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
