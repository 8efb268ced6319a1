// Remembers whether a study is being trained, for the next page.
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

/** Whether one was being trained when the page was left. */
export function wasTraining(): boolean {
  try {
    return localStorage.getItem(KEY) !== null
  } catch {
    return false
  }
}
