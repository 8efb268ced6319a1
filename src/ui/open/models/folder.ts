// Reads what a browser says of the files of a chosen folder: its name, and which lie at its top.

const partsOf = ({ webkitRelativePath }: File): readonly string[] =>
  (webkitRelativePath ?? '').split('/')

/** The name of the folder where there is one. */
export function folderName(files: readonly File[]): string {
  const [folder, ...below] = partsOf(files[0])
  return below.length > 0 ? folder : `${files.length} files`
}

/** Files of the folder itself: one below it may be a model of its own, as a critic's is. */
export const filesAtTop = (files: readonly File[]): readonly File[] =>
  files.filter((file) => partsOf(file).length <= 2)
