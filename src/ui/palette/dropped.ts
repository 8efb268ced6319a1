// The files of what is dropped; of folders, those that lie in them.

/** Files at most. */
const MOST_FILES = 2000

/** What was dropped; `name` is the folder's, where it is one. */
export interface Dropped {
  readonly files: readonly File[]
  readonly name?: string
}

/** Every file that an event brings. The browser's list is empty once the event is over, so call it before anything is awaited. */
export async function droppedFiles(data: DataTransfer): Promise<Dropped> {
  const files = [...data.files]
  const entries = [...data.items].flatMap((item) => item.webkitGetAsEntry?.() ?? [])
  if (!entries.some((entry) => entry.isDirectory)) return { files }
  const found: FileSystemEntry[] = []
  for (const entry of entries)
    if (entry.isFile) found.push(entry)
    else found.push(...(await entriesOf(entry as FileSystemDirectoryEntry)))
  const own = found.filter((entry) => entry.isFile).slice(0, MOST_FILES)
  return { files: await Promise.all(own.map(fileOf)), name: entries[0].name }
}

const fileOf = (entry: FileSystemEntry): Promise<File> =>
  new Promise((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject))

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
