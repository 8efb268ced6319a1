// The files of what is dropped: those of a folder too, with their place in it.

/** Files of a folder at most, and folders within folders. */
const MOST_FILES = 2000
const DEEPEST = 3

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
  const found: File[] = []
  for (const entry of entries) await collect(entry, found, 0)
  return { files: found, name: entries[0].name }
}

async function collect(entry: FileSystemEntry, found: File[], depth: number): Promise<void> {
  if (found.length >= MOST_FILES || depth > DEEPEST) return
  if (entry.isFile) {
    found.push(
      await new Promise<File>((resolve, reject) =>
        (entry as FileSystemFileEntry).file(resolve, reject),
      ),
    )
    return
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader()
  // A reader gives a hundred entries at a time, and none at the end.
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) =>
      reader.readEntries(resolve, reject),
    )
    if (some.length === 0) return
    for (const one of some) await collect(one, found, depth + 1)
  }
}
