// Whether a study was being trained when the page was left: then it is loaded and continued. Small, because every page loads this.
const KEY = 'understory.study'

/** Remembers it, where the browser lets the page. */
export function markTraining(is_training: boolean): void {
  try {
    if (is_training) localStorage.setItem(KEY, '1')
    else localStorage.removeItem(KEY)
  } catch {
    // Storage is off: a person continues it by opening the tab.
  }
}

export function continueStudy(): void {
  try {
    if (localStorage.getItem(KEY) === null) return
  } catch {
    return
  }
  void import('./study_store.ts').then(({ openStudy }) => openStudy())
}
