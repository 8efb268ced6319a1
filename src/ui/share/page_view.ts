// Makes the page what its link asks for: parts hidden or locked, compact in a frame, the sender's
// result behind the charts.
import { tabOf, type ViewPart, viewParts, withParts } from '../../document/links/view.ts'
import { LOCK_PARTS } from '../../document/links/view_options.ts'
import { isReplaying, replayStore } from '../../page/state/replay.ts'
import { shareStore } from '../../page/state/share_store.ts'
import { followLessonIn } from '../open/open_lesson.ts'
import { overlayStore, SENDER_ID } from '../shown/overlays.ts'
import { openTab } from '../shown/store.ts'

/** Behind the run of a recording there is nobody's. What draws a result is loaded with one. */
async function showResult(): Promise<void> {
  const sent = () => (isReplaying() ? undefined : shareStore.getState().result)
  const result = sent()
  const overlay = result
    ? [(await import('./sender_overlay.ts')).overlayOf(result, shareStore.getState().experiment)]
    : []
  // Taken off since, or another one came.
  if (sent() !== result) return
  overlayStore.setState(({ overlays }) => ({
    overlays: [...overlays.filter(({ id }) => id !== SENDER_ID), ...overlay],
  }))
}

/** What CSS goes by: <html data-hide data-lock data-embed data-replay>. */
function markPage(): void {
  const { embed, hide, lock } = shareStore.getState().options
  const isReplay = replayStore.getState().recording !== undefined
  const { dataset } = document.documentElement
  dataset.hide = hide.join(' ')
  dataset.lock = (isReplay ? LOCK_PARTS : lock).join(' ')
  dataset.embed = String(embed)
  dataset.replay = String(isReplay)
}

/** Sets or takes out parts of the address behind '#'. */
function changeHash(parts: Readonly<Partial<Record<ViewPart, string | undefined>>>): void {
  const { pathname, search, hash } = location
  history.replaceState(history.state, '', `${pathname}${search}${withParts(hash, parts)}`)
}

/** Takes the sender's result off the page and out of the address. */
export function dismissResult(): void {
  shareStore.setState({ result: undefined })
  changeHash({ r: undefined })
}

/** The page as it would be without the link's view, and what was trained is dropped. */
export function unlock(): void {
  changeHash({ hide: undefined, lock: undefined })
  location.reload()
}

/** Tells the page around the frame how high this one is, whenever that changes. Nothing else
 * leaves. */
function tellHeight(): void {
  const root = document.documentElement
  let told = 0
  const tell = () => {
    const height = Math.ceil(root.getBoundingClientRect().height)
    if (height === told) return
    told = height
    parent.postMessage({ type: 'understory:height', height }, '*')
  }
  new ResizeObserver(tell).observe(root)
  tell()
}

/** Another link of this page in the same tab changes the hash alone: the browser loads nothing by
 * itself. Nor does its Back, which may change the query too and is then no change of the hash. */
function followHash(): void {
  let before = location.hash
  addEventListener('popstate', () => {
    const view = ({ tab: _, lesson: __, board: ___, ...rest }: ReturnType<typeof viewParts>) =>
      JSON.stringify(rest)
    const isSame = view(viewParts(before)) === view(viewParts(location.hash))
    before = location.hash
    // A study is taken out of the hash as soon as it is read, so the same link can come again.
    if (!isSame || viewParts(location.hash).study) return location.reload()
    followLessonIn(location.hash)
    openTab(tabOf(location.hash))
  })
}

/** To be called once, after the lab was opened. */
export function followView(): void {
  shareStore.subscribe((now, before) => {
    markPage()
    if (now.result !== before.result) void showResult()
  })
  replayStore.subscribe((now, before) => {
    if (now.recording === before.recording) return
    markPage()
    void showResult()
  })
  markPage()
  void showResult()
  followHash()
  if (shareStore.getState().options.embed && parent !== window) tellHeight()
}
