// Finds the files of what is dropped; of folders, those that lie in them and below.

/** Files at most. */
const MOST_FILES = 2000
/** Folders in folders that are looked into. */
const DEEPEST = 6

/** What was dropped; `name` is the folder's, where it is one. */
export interface Dropped {
  readonly files: readonly File[]
  readonly name?: string
}

/** Every file of what an event brought: its files, and the entries that say which are folders. */
export async function droppedFiles(
  files: readonly File[],
  entries: readonly FileSystemEntry[],
): Promise<Dropped> {
  if (!entries.some((entry) => entry.isDirectory)) return { files }
  const found: FileSystemEntry[] = []
  for (const entry of entries)
    if (entry.isFile) found.push(entry)
    else found.push(...(await filesBelow(entry as FileSystemDirectoryEntry)))
  const own = found.filter((entry) => entry.isFile).slice(0, MOST_FILES)
  return { files: await Promise.all(own.map(fileOf)), name: entries[0].name }
}

/** A file with its path, which the browser gives to files of a chosen folder alone. */
async function fileOf(entry: FileSystemEntry): Promise<File> {
  const file = await new Promise<File>((resolve, reject) =>
    (entry as FileSystemFileEntry).file(resolve, reject),
  )
  const path = entry.fullPath.replace(/^\//, '')
  return path.includes('/')
    ? Object.defineProperty(file, 'webkitRelativePath', { value: path })
    : file
}

/** The files of a folder and of those below it. */
async function filesBelow(folder: FileSystemDirectoryEntry, depth = 0): Promise<FileSystemEntry[]> {
  const found: FileSystemEntry[] = []
  for (const entry of await entriesOf(folder))
    if (entry.isFile) found.push(entry)
    else if (depth < DEEPEST && found.length < MOST_FILES)
      found.push(...(await filesBelow(entry as FileSystemDirectoryEntry, depth + 1)))
  return found
}

async function entriesOf(folder: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = folder.createReader()
  const found: FileSystemEntry[] = []
  // A reader gives a hundred entries at a time, and none at the end.
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) =>
      reader.readEntries(resolve, reject),
    )
    if (some.length === 0 || found.length > MOST_FILES) return found
    found.push(...some)
  }
}
