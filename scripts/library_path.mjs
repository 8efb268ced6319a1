// Adds a folder to a list of folders, such as LD_LIBRARY_PATH.

/** A list of folders that holds this one, once: a process that was started with it needs no
 * other. */
export function withFolder(list, folder) {
  const folders = (list ?? '').split(':').filter(Boolean)
  return folders.includes(folder) ? list : [...folders, folder].join(':')
}
